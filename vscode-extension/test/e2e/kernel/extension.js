// A kernel for the end-to-end tests: an extension of its own, as Jupyter's is, that runs cells of notebooks in one Python process and counts them.
// It knows nothing of Inductor Debug.

/* global exports, process, require */
"use strict";

const { spawn } = require("node:child_process");
const { createInterface } = require("node:readline");
const vscode = require("vscode");

const LOOP = `
import json, sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    try:
        exec(compile(json.loads(line), "<cell>", "exec"), names)
        said = ""
    except BaseException:
        said = traceback.format_exc()
    print(json.dumps(said), flush=True)
`;

exports.activate = ({ subscriptions }) => {
  const controller = vscode.notebooks.createNotebookController("cells-kernel", "jupyter-notebook", "Python for tests");
  let python;
  let answers;
  let order = 0;
  let running = Promise.resolve();
  const run = async (cell) => {
    if (!python) {
      python = spawn(process.env.INDUCTOR_DEBUG_TEST_PYTHON, ["-c", LOOP], { stdio: ["pipe", "pipe", "ignore"] });
      answers = createInterface({ input: python.stdout })[Symbol.asyncIterator]();
      order = 0;
    }
    const execution = controller.createNotebookCellExecution(cell);
    execution.executionOrder = order += 1;
    execution.start(Date.now());
    await execution.clearOutput();
    python.stdin.write(`${JSON.stringify(cell.document.getText())}\n`);
    const said = JSON.parse((await answers.next()).value);
    if (said !== "") await execution.appendOutput(new vscode.NotebookCellOutput([vscode.NotebookCellOutputItem.text(said)]));
    execution.end(said === "", Date.now());
  };
  controller.supportsExecutionOrder = true;
  controller.supportedLanguages = ["python"];
  controller.executeHandler = (cells) => { for (const cell of cells) running = running.then(() => run(cell)); };
  const prefer = (notebook) => { controller.updateNotebookAffinity(notebook, vscode.NotebookControllerAffinity.Preferred); };
  vscode.workspace.notebookDocuments.forEach(prefer);
  subscriptions.push(controller, vscode.workspace.onDidOpenNotebookDocument(prefer), { dispose: () => { python?.kill(); } });
};
