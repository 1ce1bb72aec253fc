/** What goes wrong around the daemon: each time one message that says what and what to do, and the way back. */

import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import { PYTHON, until, Workbench } from "./harness.js";
import { CLEAN, CRASH, CULPRIT, DOUBLE } from "./models.js";
import { sharedWindow } from "./sharedWindow.js";
import type { Window } from "./window.js";

/** Stand-ins for an interpreter, as shell scripts. The probe (`-I -c`) goes to the real one where only the daemon is wrong. */
const STAND_INS = {
  "prints-garbage": `[ "$2" = -c ] && exec ${PYTHON} "$@"\necho "Welcome to my shell"; sleep 2; exit 1`,
  "ends-at-start": `[ "$2" = -c ] && exec ${PYTHON} "$@"\necho "libfancy.so: cannot open shared object file" >&2; exit 127`,
  "too-old-python": `[ "$2" = -c ] && { echo 3.8.1; echo; exit 0; }\nexit 2`,
  "without-torch": `[ "$2" = -c ] && { echo 3.11.2; echo; exit 0; }\nexec ${PYTHON} "$@"`,
  "old-daemon": `[ "$2" = -c ] && exec ${PYTHON} "$@"\nexec ${PYTHON} -c "
import sys
body = b'{\\"jsonrpc\\":\\"2.0\\",\\"id\\":0,\\"result\\":{\\"capabilities\\":{},\\"serverInfo\\":{\\"name\\":\\"inductor-debug\\",\\"version\\":\\"0.0.1\\"}}}'
sys.stdin.buffer.readline()
sys.stdout.buffer.write(b'Content-Length: %d\\r\\n\\r\\n' % len(body) + body)
sys.stdout.flush()
sys.stdin.buffer.read()
"`,
} as const;

let bench: Workbench;
beforeAll(async () => { bench = await Workbench.start(); });
afterAll(async () => { await bench.close(); });

describe("an interpreter that will not do", () => {
  let window: Window;
  let folder: string;
  const use = (interpreter: string): void => {
    bench.write(join(folder, ".vscode", "settings.json"), JSON.stringify({ "inductorDebug.interpreter": interpreter }));
  };
  const standIn = (name: keyof typeof STAND_INS): string => {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\n${STAND_INS[name]}\n`);
    chmodSync(path, 0o755);
    return path;
  };

  beforeAll(async () => {
    folder = bench.folder({ "model.py": DOUBLE });
    use(join(folder, "nowhere", "python"));
    window = await bench.open(folder);
    await window.openFile("model.py");
  });
  afterAll(async () => {
    await window.screenshot("failures-last");
    await window.close();
  });

  test("that is not there is named, once, with what to do", async () => {
    const message = await window.untilNotification("cannot be run");
    expect(message).toContain(join(folder, "nowhere", "python"));
    expect(message).toContain("the setting inductorDebug.interpreter");
    expect(message).toContain("Choose another one");
    await until("the status says so", async () => (await window.status()).includes("Inductor Debug is not running"));
    await window.screenshot("wrong-interpreter");
    expect((await window.notifications()).length).toBe(1);
  });
  afterEach(() => window.clearNotifications());

  test.each([
    ["prints-garbage", /is not the daemon; it printed: Welcome to my shell/u],
    ["ends-at-start", /ended while it was starting \(exit code 127\): libfancy\.so: cannot open/u],
    ["too-old-python", /is Python 3\.8\.1; 3\.10 or newer is needed/u],
    ["old-daemon", /The daemon 0\.0\.1 .* is too old for this extension/u],
    ["without-torch", /There is no torch in .*without-torch/u],
  ] as const)("that %s gets one message", async (name, expected) => {
    use(standIn(name));
    await window.untilNotification(expected);
    await window.screenshot(`failure-${name}`);
    expect((await window.notifications()).length).toBe(1);
  });

  test("that is mended in the settings works without a reload", async () => {
    use(PYTHON);
    await window.untilUnderlined([[13, CULPRIT]]);
    expect(await window.notifications()).toEqual([]);
  });

  test("a daemon that is killed comes back by itself", async () => {
    const before = pids(window).length;
    process.kill(pids(window).at(-1) ?? -1, "SIGKILL");
    await until("another process", () => pids(window).length > before);
    await window.untilUnderlined([[13, CULPRIT]]);
    expect(await window.notifications()).toEqual([]);
  });

  test("and by the command Restart", async () => {
    const before = pids(window).length;
    await window.run("Inductor Debug: Restart");
    await until("another process", () => pids(window).length > before);
    await window.untilUnderlined([[13, CULPRIT]]);
  });
});

test("a model that kills its process is told at the file, and the next edit recovers", async () => {
  const window = await sharedWindow({ "model.py": CRASH });
  await window.openFile("model.py");
  await until("the crash is underlined", async () => (await window.squiggles()).some(({ severity }) => severity === "error"));
  await window.screenshot("crash");
  expect(await window.notifications()).toEqual([]);
  await window.replace(CRASH, "        import os\n        os._exit(3)\n", "");
  await window.save();
  await window.untilUnderlined([]);
  await until("the status says so", async () => (await window.status()).includes("no findings"));
});

test("without any Python one message says what to install", async () => {
  // VSCODE_CLI keeps VS Code from asking a login shell for another PATH.
  const bare = await Workbench.start({}, { PATH: "/nowhere", VSCODE_CLI: "1" });
  const window = await bare.open(bare.folder({ "model.py": CLEAN }));
  await window.openFile("model.py");
  const message = await window.untilNotification("No Python was found");
  expect(message).toContain("Install Python 3.10 or newer with torch");
  expect((await window.notifications()).length).toBe(1);
  await bare.close();
});

/** The processes of the daemon that the window has had, from its output. */
function pids(window: Window): number[] {
  return [...window.output().matchAll(/answers \(process (\d+)\)/gu)].map((match) => Number(match[1]));
}
