#!/usr/bin/env python3
"""Tries an interactive session of the real Claude Code with hooks.json: the card and the terminal's own dialog stand side by side, and the first
answer counts. Needs sayso, claude and node in PATH; everything else is made for it and thrown away."""

import fcntl, json, os, pty, re, select, signal, struct, subprocess, sys, tempfile, termios, time

here = os.path.dirname(os.path.abspath(__file__))
work = tempfile.mkdtemp()
shop = work + "/shop"
os.makedirs(shop)
os.makedirs(work + "/home")
key = "sk-ant-api03-made-up-key-for-a-test"
env = dict(os.environ, HOME=work + "/home", SAYSO_DATA=work + "/data", ANTHROPIC_API_KEY=key, DISABLE_TELEMETRY="1", DISABLE_AUTOUPDATER="1",
           CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", TERM="xterm-256color")


def wait(what, seconds=30):
    """Goes on when what() is true; shows Claude Code's screen if it never is."""
    end = time.time() + seconds
    while time.time() < end:
        read(0.2)
        if what():
            return
    sys.exit("it never came; the screen:\n" + screen()[-2000:])


printed = b""


def read(seconds):
    global printed
    if select.select([terminal], [], [], seconds)[0]:
        printed += os.read(terminal, 65536)


def screen():
    return re.sub(r"\s+", " ", re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b" ", printed).decode(errors="replace"))


def type_in(line):
    os.write(terminal, line.encode())
    wait(lambda: line[-12:].replace(" ", "") in screen().replace(" ", ""))
    os.write(terminal, b"\r")


def sayso(*args):
    return subprocess.run(["sayso", *args], env=env, capture_output=True, text=True).stdout


def cards():
    return [(i["id"], i["status"]) for i in json.loads(sayso("inbox", "list", "--all", "--json"))["data"]["interactions"]]


def idle():
    return screen().rfind("for shortcuts") > max(screen().rfind("esc to interrupt"), 0)


serving = subprocess.Popen(["sayso", "serve", "--listen", "127.0.0.1:0"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
modelling = subprocess.Popen(["node", here + "/model.mjs"], stdout=subprocess.PIPE, text=True)
env["ANTHROPIC_BASE_URL"] = modelling.stdout.readline().strip()
while not os.path.exists(work + "/data/server.json"):
    time.sleep(0.1)
with open(work + "/home/.claude.json", "w") as f:  # what its first start would ask
    json.dump({"hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": {"approved": [key[-20:]], "rejected": []},
               "projects": {shop: {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}}}, f)
pid, terminal = pty.fork()
if pid == 0:
    os.chdir(shop)
    os.execvpe("claude", ["claude", "--permission-mode", "default", "--settings", here + "/hooks.json"], env)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
try:
    wait(lambda: "for shortcuts" in screen())
    type_in('Bash {"command":"mkdir one","description":"Make a folder"}')
    wait(lambda: len(cards()) == 1 and "Do you want to proceed" in screen())
    sayso("inbox", "answer", cards()[0][0], "--allow")
    wait(lambda: os.path.isdir(shop + "/one"))
    print("answered in Sayso: the dialog closed, and the tool ran")
    wait(idle)

    type_in('Bash {"command":"mkdir two","description":"Make a folder"}')
    wait(lambda: len(cards()) == 2 and screen().count("Do you want to proceed") >= 2)
    time.sleep(1)  # a key that comes sooner is not taken for an answer
    os.write(terminal, b"\r")
    wait(lambda: os.path.isdir(shop + "/two"))
    wait(lambda: all(status != "pending" for _, status in cards()))
    print("answered in the terminal: the card closed:", *(status for _, status in cards()))
    wait(idle)

    type_in('AskUserQuestion {"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"warm"},'
            '{"label":"Blue","description":"cool"}],"multiSelect":false}]}')
    wait(lambda: len(cards()) == 3)
    sayso("inbox", "answer", next(id for id, status in cards() if status == "pending"), "--select", "Colour=Blue")
    wait(lambda: 'Which colour?"="Blue"' in screen())
    print("its own question answered in Sayso")
finally:
    os.kill(pid, signal.SIGKILL)
    serving.terminate()
    modelling.terminate()
    subprocess.run(["rm", "-rf", work])
