import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Starts incumbent zk --control for a test. The environment variable INCUMBENT names the program. */
final class Server implements AutoCloseable {
    final String address;
    private final String control;
    private final Process process;
    private final HttpClient http = HttpClient.newHttpClient();

    Server() throws IOException {
        String program = System.getenv().getOrDefault("INCUMBENT", "incumbent");
        process = new ProcessBuilder(program, "zk", "--json", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0")
                .redirectError(ProcessBuilder.Redirect.DISCARD).start();
        String line = new BufferedReader(new InputStreamReader(process.getInputStream())).readLine();
        address = field(line, "address");
        control = field(line, "control");
    }

    /** Returns a field of a JSON object, without a library for JSON. */
    static String field(String json, String name) {
        Matcher m = Pattern.compile("\"" + name + "\":\"([^\"]*)\"").matcher(json);
        if (!m.find()) {
            throw new IllegalArgumentException("no " + name + " in " + json);
        }
        return m.group(1);
    }

    String get(String path) throws Exception {
        return send(HttpRequest.newBuilder(URI.create(control + path)).build());
    }

    String post(String path, String body) throws Exception {
        return send(HttpRequest.newBuilder(URI.create(control + path)).header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body)).build());
    }

    private String send(HttpRequest request) throws Exception {
        HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
            throw new IOException(answer.body());
        }
        return answer.body();
    }

    @Override
    public void close() {
        process.destroy();
    }
}
