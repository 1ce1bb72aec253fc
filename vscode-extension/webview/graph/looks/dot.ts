/** A graph as DOT, whole: modules as clusters, every node with its type. For Graphviz and whatever else reads it. */

import { type Hierarchy, isScope, type Item } from "../model/hierarchy.js";
import { titleOf } from "./labels.js";
import { type GraphTable, nameOf, ROLE_OP, row, shortOp, typeText, word } from "../model/table.js";

export function dotOf(hierarchy: Hierarchy): string {
  const { table, scopes } = hierarchy;
  const lines = ["digraph {", "  rankdir=TB;", "  node [shape=box, fontname=\"sans-serif\", fontsize=10];"];
  const node = (index: number, indent: string): string => `${indent}${quote(nameOf(table, index))} [label=${quote(`${whatIs(table, index)}\n${typeText(table, index)}`)}];`;
  const write = (item: Item, indent: string): void => {
    const scope = isScope(hierarchy, item) ? scopes[item - table.count] : undefined;
    if (!scope) {
      lines.push(node(item, indent));
      return;
    }
    if (scope.id !== 0) lines.push(`${indent}subgraph ${quote(`cluster_${scope.id}`)} {`, `${indent}  label=${quote(titleOf(hierarchy, scope))};`);
    for (const child of scope.children) write(child, scope.id === 0 ? indent : `${indent}  `);
    if (scope.id !== 0) lines.push(`${indent}}`);
  };
  for (let index = 0; index < table.count; index += 1) if (hierarchy.scopeOf[index] === -1) lines.push(node(index, "  "));
  write(table.count, "  ");
  for (let index = 0; index < table.count; index += 1) {
    for (const input of new Set(row(table.inputs, index))) lines.push(`  ${quote(nameOf(table, input))} -> ${quote(nameOf(table, index))};`);
  }
  return `${[...lines, "}"].join("\n")}\n`;
}

/** An operation by what it does; what is read, by its name. */
function whatIs(table: GraphTable, node: number): string {
  return table.roles[node] === ROLE_OP ? shortOp(word(table.ops, node)) : word(table.details, node) || nameOf(table, node);
}

function quote(text: string): string {
  return `"${text.replace(/[\\"]/gu, "\\$&").replace(/\n/gu, "\\n").replace(/\r/gu, "")}"`;
}
