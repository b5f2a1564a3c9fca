// A stage on which a real agent's program is tried: a server of Sayso's own, a scripted model on loopback, a fresh home and an empty folder to
// work in, and a person who answers by `sayso agent interactions`. All of it is made for one try and thrown away.
//
// SAYSO is the program to try, sayso by default; CLAUDE, CODEX, GEMINI and OPENCODE are those of the agents.
import { spawn, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const sayso = process.env.SAYSO ?? "sayso";
export const moment = (ms) => new Promise((done) => setTimeout(done, ms));

export class Stage {
  constructor(model) {
    this.model = model;
    this.work = mkdtempSync(join(tmpdir(), "sayso-try-"));
    this.home = join(this.work, "home");
    this.shop = join(this.work, "shop"); // the folder that the agent works in
    mkdirSync(this.home);
    mkdirSync(this.shop);
    this.env = {
      PATH: process.env.PATH, HOME: this.home, SAYSO_DATA: join(this.work, "data"), LANG: "C.UTF-8", DISABLE_TELEMETRY: "1", DISABLE_AUTOUPDATER: "1",
    };
    this.children = [];
  }

  /** serve starts the server, again at the same address if there was one. */
  async serve() {
    const file = join(this.env.SAYSO_DATA, "server.json");
    rmSync(file, { force: true });
    this.server = this.start(sayso, ["serve", "--log-level", "warn", "--listen", this.url ? new URL(this.url).host : "127.0.0.1:0"]);
    await this.until("the server", () => existsSync(file) && /"url"/.test(readFileSync(file, "utf8")));
    this.url = JSON.parse(readFileSync(file, "utf8")).url;
    this.key = readFileSync(join(this.env.SAYSO_DATA, "agent.key"), "utf8").trim();
  }

  /** stop ends the server and waits for its end. */
  async stop(signal = "SIGTERM") {
    const ended = new Promise((done) => this.server.once("exit", done));
    this.server.kill(signal);
    await ended;
  }

  start(program, args, more = {}) {
    const child = spawn(program, args, { cwd: this.shop, env: { ...this.env, ...more }, stdio: ["ignore", "pipe", "pipe"] });
    child.said = "";
    for (const out of [child.stdout, child.stderr]) out.on("data", (part) => (child.said += part));
    this.children.push(child);
    return child;
  }

  /** agent starts the agent's program; what is awaited is its end, with what it printed. */
  agent(program, args, more = {}, seconds = 180) {
    const child = this.start(program, args, more);
    const timer = setTimeout(() => child.kill(), seconds * 1000);
    this.ended = false;
    this.running = new Promise((done) => child.once("close", (code) => (clearTimeout(timer), (this.ended = true), done({ code, said: child.said }))));
    return this.running;
  }

  /** inbox is what `sayso agent interactions` answers. */
  inbox(...args) {
    return JSON.parse(execFileSync(sayso, ["agent", "interactions", ...args, "--json"], { env: this.env, encoding: "utf8" })).data;
  }

  cards(all = false) {
    return this.inbox("list", ...(all ? ["--all"] : [])).interactions;
  }

  /** asked waits until so many cards are open, and gives them, the oldest first. */
  async asked(count = 1, seconds = 60) {
    let open = [];
    await this.until(`${count} open card(s)`, () => (open = this.cards()).length >= count || this.ended, seconds);
    if (open.length < count) throw new Error(`the agent ended without a card: ${(await this.running).said.slice(-1500)}`);
    return open.sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
  }

  answer(card, ...how) {
    return this.inbox("answer", card.id, "--by", "Dana", ...how);
  }

  async until(what, holds, seconds = 30) {
    for (const end = Date.now() + seconds * 1000; Date.now() < end; await moment(200)) if (holds()) return;
    throw new Error(`${what} never came\n${this.children.map((c) => c.said.slice(-1500)).join("\n---\n")}`);
  }

  made(...names) {
    return names.map((name) => `${name} ${existsSync(join(this.shop, name)) ? "made" : "not made"}`).join(", ");
  }

  async end() {
    this.children.filter((c) => c.exitCode === null && c.signalCode === null).forEach((c) => c.kill());
    await moment(300);
    if (process.env.KEEP) console.log(`kept: ${this.work}`);
    else rmSync(this.work, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** tell prints one fact of a try; ids differ each time. */
export function tell(what) {
  console.log("    " + String(what).replace(/int_[a-z2-7]{26}/g, "int_…").replaceAll(/\s*\n\s*/g, " "));
}

/** play runs the cases named on the command line, all by default, each on a stage of its own, and fails if one does. */
export async function play(version, cases, listen) {
  const named = process.argv.slice(2);
  const unknown = named.filter((name) => !cases[name]);
  if (unknown.length) throw new Error(`${unknown.join(", ")}: no such case; there are ${Object.keys(cases).join(", ")}`);
  console.log(`# ${version}`);
  for (const [name, act] of Object.entries(cases)) {
    if (named.length ? !named.includes(name) : act.slow) continue;
    console.log(name);
    const stage = new Stage(await listen());
    try {
      await stage.serve();
      await act(stage);
    } catch (err) {
      tell(`FAILED: ${err.message}`);
      process.exitCode = 1;
    }
    await stage.end();
    stage.model.server.closeAllConnections();
    stage.model.server.close();
  }
}
