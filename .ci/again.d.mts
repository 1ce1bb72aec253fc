export interface Failures {
  forget(): void;
  names(): string[];
  selection(): string[];
}
export class PythonFailures implements Failures {
  constructor(root: string);
  forget(): void;
  names(): string[];
  selection(): string[];
}
export class EndToEndFailures implements Failures {
  constructor(root: string);
  forget(): void;
  names(): string[];
  selection(): string[];
}
export function passesAgain(lane: string, failures: Failures, job: (selection: string[]) => Promise<number>): Promise<boolean>;
