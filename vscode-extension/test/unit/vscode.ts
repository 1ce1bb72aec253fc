/**
 * As much of the module `vscode` as the unit tests touch: events, URIs, settings and a window that remembers what it showed.
 */

type Listener<T> = (value: T) => void;

export class EventEmitter<T> {
  private readonly listeners = new Set<Listener<T>>();

  readonly event = (listener: Listener<T>): { dispose(): void } => {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  };

  fire(value: T): void {
    for (const listener of [...this.listeners]) listener(value);
  }

  dispose(): void {
    this.listeners.clear();
  }
}

export class CancellationTokenSource {
  readonly token = { isCancellationRequested: false };

  cancel(): void {
    this.token.isCancellationRequested = true;
  }

  dispose(): void {
    // nothing is held
  }
}

export class Uri {
  private constructor(
    readonly scheme: string,
    readonly path: string,
    readonly fragment = "",
  ) {}

  static parse(text: string): Uri {
    const match = /^([a-z-]+):(?:\/\/)?(.*)$/u.exec(text);
    return new Uri(match?.[1] ?? "file", decodeURIComponent(match?.[2] ?? text));
  }

  static file(path: string): Uri {
    return new Uri("file", path);
  }

  static joinPath(base: Uri, ...parts: string[]): Uri {
    return new Uri(base.scheme, [base.path, ...parts].join("/"));
  }

  static from(parts: { scheme: string; path: string }): Uri {
    return new Uri(parts.scheme, parts.path);
  }

  get fsPath(): string {
    return this.path;
  }

  with(change: { fragment: string }): Uri {
    return new Uri(this.scheme, this.path, change.fragment);
  }

  toString(): string {
    return `${this.scheme}://${encodeURI(this.path)}${this.fragment === "" ? "" : `#${this.fragment}`}`;
  }
}

export class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
}

export class Range {
  readonly start: Position;
  readonly end: Position;

  constructor(line: number, character: number, endLine: number, endCharacter: number) {
    this.start = new Position(line, character);
    this.end = new Position(endLine, endCharacter);
  }
}

export class Diagnostic {
  code: unknown;
  data: unknown;

  constructor(
    readonly range: Range,
    readonly message: string,
    readonly severity: number = DiagnosticSeverity.Warning,
  ) {}
}

export const DiagnosticSeverity = { Error: 0, Warning: 1, Information: 2, Hint: 3 } as const;

export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 } as const;

export class ThemeColor {
  constructor(readonly id: string) {}
}

export class ThemeIcon {
  static readonly File = new ThemeIcon("file");

  constructor(
    readonly id: string,
    readonly color?: ThemeColor,
  ) {}
}

export class TreeItem {
  constructor(
    readonly label: unknown,
    readonly collapsibleState: number,
  ) {}
}

export const QuickPickItemKind = { Separator: -1, Default: 0 } as const;

export const ProgressLocation = { Window: 10, Notification: 15 } as const;

export class CancellationError extends Error {}

export const ConfigurationTarget = { Global: 1, Workspace: 2, WorkspaceFolder: 3 } as const;

export const l10n = {
  t: (text: string, ...values: unknown[]): string =>
    text.replace(/\{(\d+)\}/gu, (_whole, index: string) => String(values[Number(index)])),
};

/** What the tests set and read. */
export const state = {
  settings: new Map<string, unknown>(),
  folders: undefined as { uri: Uri; name: string }[] | undefined,
  shown: [] as { level: string; message: string; actions: string[] }[],
  contexts: new Map<string, unknown>(),
  choose: undefined as string | undefined,
  executed: [] as unknown[][],
  /** What bars have shown. */
  progress: [] as { message?: string; increment?: number }[],
  reset(): void {
    this.settings.clear();
    this.folders = undefined;
    this.shown = [];
    this.contexts.clear();
    this.choose = undefined;
    this.executed = [];
    this.progress = [];
  },
};

function show(level: string) {
  return (message: string, ...actions: string[]): Promise<string | undefined> => {
    state.shown.push({ level, message, actions });
    return Promise.resolve(state.choose);
  };
}

export const window = {
  showErrorMessage: show("error"),
  showWarningMessage: show("warning"),
  showInformationMessage: show("information"),
  withProgress: <T>(
    _options: unknown, task: (bar: { report(value: (typeof state.progress)[number]): void }, token: unknown) => T,
  ): T => task({ report: (value) => { state.progress.push(value); } }, {}),
};

const never = (): { dispose(): void } => ({ dispose: () => undefined });

export const workspace = {
  get workspaceFolders(): typeof state.folders {
    return state.folders;
  },
  getWorkspaceFolder: (uri: Uri): unknown => state.folders?.find((folder) => uri.path.startsWith(`${folder.uri.path}/`)),
  getConfiguration: (section: string): Record<string, unknown> => ({
    get: (name: string, fallback?: unknown): unknown => state.settings.get(`${section}.${name}`) ?? fallback,
    inspect: (name: string) => ({ globalValue: state.settings.get(`${section}.${name}`) }),
    update: (name: string, value: unknown) => {
      state.settings.set(`${section}.${name}`, value);
      return Promise.resolve();
    },
  }),
  onDidCloseTextDocument: never,
  onDidCloseNotebookDocument: never,
  onDidChangeConfiguration: never,
  onDidChangeWorkspaceFolders: never,
};

export const extensions = { getExtension: (): undefined => undefined, onDidChange: never };

export const commands = {
  executeCommand: (name: string, ...values: unknown[]): Promise<void> => {
    if (name === "setContext") state.contexts.set(String(values[0]), values[1]);
    else state.executed.push([name, ...values]);
    return Promise.resolve();
  },
};

export const env = { language: "en", clipboard: { writeText: (): Promise<void> => Promise.resolve() } };
