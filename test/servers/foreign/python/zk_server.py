"""Starts `incumbent zk --control` for a test. INCUMBENT names the program."""
import json
import os
import subprocess
import urllib.request


class Server:
    def __init__(self, *flags):
        command = [os.environ.get("INCUMBENT", "incumbent"), "zk", "--json", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0"]
        self.process = subprocess.Popen(command + list(flags), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        line = json.loads(self.process.stdout.readline())
        self.address, self.control = line["address"], line["control"]

    def get(self, path):
        with urllib.request.urlopen(self.control + path, timeout=30) as answer:
            return json.load(answer)

    def post(self, url, **body):
        request = urllib.request.Request(self.control + url, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def close(self):
        self.process.terminate()
        self.process.wait(30)
        self.process.stdout.close()
