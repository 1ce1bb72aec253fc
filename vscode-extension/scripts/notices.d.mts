export const NOTICES: string;

export class Packages {
  add(metafile: { readonly inputs: Readonly<Record<string, unknown>> }, root: string): void;
  and(others: Packages): Packages;
  notices(head: string): string;
}
