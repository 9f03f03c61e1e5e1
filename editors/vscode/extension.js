// Starts `kineta lsp` for texts in the language .kin.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const command = workspace.getConfiguration("kineta").get("command");
  const options = {
    documentSelector: [{ language: "kin" }],
    synchronize: { fileEvents: workspace.createFileSystemWatcher("**/*.{kin,urdf}") },
  };
  client = new LanguageClient("kineta", "kineta", { command, args: ["lsp"] }, options);
  return client.start();
};

exports.deactivate = () => client?.stop();
