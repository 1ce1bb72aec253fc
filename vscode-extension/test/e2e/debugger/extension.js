// Microsoft's Python Debugger for the end-to-end tests, which cannot install it: what starts a session is VS Code's own debugger, and
// what runs the program is debugpy's own adapter, out of the interpreter that the configuration names. Only what lies between is ours.

/* global exports, require */
"use strict";

const vscode = require("vscode");

exports.activate = ({ subscriptions }) => {
  const createDebugAdapterDescriptor = ({ configuration }) => new vscode.DebugAdapterExecutable(configuration.python, ["-m", "debugpy.adapter"]);
  subscriptions.push(vscode.debug.registerDebugAdapterDescriptorFactory("debugpy", { createDebugAdapterDescriptor }));
};
