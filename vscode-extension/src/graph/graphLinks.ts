/**
 * Links to nodes of graphs, `vscode://inductor-debug.inductor-debug/graph?file=…&target=…&graph=…&node=…`: what they say, and back. Whoever
 * opens one sees the node in the graph of the target as the file is then. Pure.
 */

export interface NodeLink {
  /** The absolute path of the file. */
  readonly file: string;
  readonly target: string;
  readonly graph?: string | undefined;
  readonly node?: string | undefined;
}

export const LINK_PATH = "/graph";

export function linkText(scheme: string, extension: string, { file, target, graph, node }: NodeLink): string {
  const query = new URLSearchParams({ file, target, ...(graph === undefined ? {} : { graph }), ...(node === undefined ? {} : { node }) });
  return `${scheme}://${extension}${LINK_PATH}?${query.toString()}`;
}

/** What a link says; undefined for what is none of ours. Links come from anywhere, so nothing but texts is taken. */
export function linkOf(path: string, query: string): NodeLink | undefined {
  const said = new URLSearchParams(query);
  const [file, target] = [said.get("file"), said.get("target")];
  if (path !== LINK_PATH || !file?.endsWith(".py") || !target) return undefined;
  return { file, target, graph: said.get("graph") ?? undefined, node: said.get("node") ?? undefined };
}
