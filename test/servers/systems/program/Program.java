import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Map;

/**
 * Program is what the programs of all systems share. A line that a program means for the test begins with "> ": "> ready", what
 * happens to it, and "> done" or "> failed" after each command that comes on its standard input. The end of that input ends it.
 */
public class Program {
  /** Command is what a program does on a word from the test. It returns what it found, or an empty string. */
  public interface Command {
    String run(String[] words) throws Exception;
  }

  public static synchronized void say(String words) {
    System.out.println("> " + words.replace('\n', ' '));
    System.out.flush();
  }

  /** serve says "ready" and carries out commands, each named by its first word, until the input ends. */
  public static void serve(Map<String, Command> commands) throws Exception {
    say("ready");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ");
      try {
        say("done " + commands.get(words[0]).run(words));
      } catch (Throwable e) {
        e.printStackTrace();
        say("failed " + e);
      }
    }
    Runtime.getRuntime().halt(0);
  }
}
