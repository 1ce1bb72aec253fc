/**
 * Which Python runs a folder's models. The first rung that has an answer decides:
 *
 * 1. the setting `inductorDebug.interpreter`,
 * 2. the extension ms-python.vscode-python-envs,
 * 3. the extension ms-python.python,
 * 4. `.venv` in the workspace folder,
 * 5. the first `python3` or `python` on the PATH.
 *
 * The rungs are given from outside, so that the order can be tested without any of them. A rung that fails or takes too long has
 * no answer; the ladder never waits for another extension longer than `RUNG_PATIENCE`.
 */

/** The names of the rungs, as the log and the troubleshooting information show them. */
export type RungName = "setting" | "python-envs" | "python" | "venv" | "path";

export interface Interpreter {
  readonly path: string;
  readonly from: RungName;
}

export interface Rung {
  readonly name: RungName;
  find(): Promise<string | undefined>;
}

/** What a rung answered, for the log. */
export interface Answer {
  readonly rung: RungName;
  readonly path: string | undefined;
  readonly problem?: string;
}

export interface Climb {
  readonly interpreter: Interpreter | undefined;
  readonly answers: readonly Answer[];
}

/** Milliseconds that one rung may take. A slow extension answers later, by its event. */
const RUNG_PATIENCE = 1500;

/** Asks rung after rung until one has an answer. */
export async function climb(rungs: readonly Rung[], patience = RUNG_PATIENCE): Promise<Climb> {
  const answers: Answer[] = [];
  for (const rung of rungs) {
    const answer = await ask(rung, patience);
    answers.push(answer);
    if (answer.path !== undefined) return { interpreter: { path: answer.path, from: rung.name }, answers };
  }
  return { interpreter: undefined, answers };
}

async function ask(rung: Rung, patience: number): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Answer>((resolve) => {
    timer = setTimeout(() => {
      resolve({ rung: rung.name, path: undefined, problem: `no answer within ${patience} ms` });
    }, patience);
  });
  const found = rung.find().then(
    (path): Answer => ({ rung: rung.name, path }),
    (error: unknown): Answer => ({ rung: rung.name, path: undefined, problem: String(error) }),
  );
  try {
    return await Promise.race([found, late]);
  } finally {
    clearTimeout(timer);
  }
}
