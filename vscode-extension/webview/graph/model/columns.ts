/**
 * Reads a `.graph` file: the TypeScript twin of `inductor_debug/artifacts/graph_columns.py`, where the format is described.
 *
 * Columns become typed arrays over the file's own bytes (copied only where they are not aligned), strings are made once.
 * Content that is damaged or foreign is an error that says so.
 */

import { decode } from "@msgpack/msgpack";

import type { DeviceSpecs, GraphKind, Kernel, LinePlace, Listing, Location, Mark, UnfusedKernel } from "../../../../shared_schema/generated/wire.js";
import { readBuild } from "./builds.js";
import { readSpecs, type Whole } from "./specs.js";
import { type GraphTable, KINDS, type Lists, ROLES, type Words } from "./table.js";
import { damaged, flag, FormatError, isMap, list, map, optional, type Said, text } from "./values.js";

/** A document with its graphs as tables. */
export interface Document {
  readonly target: string;
  readonly stage: string;
  readonly path: string;
  readonly digest: string;
  readonly accelerator: string;
  readonly torch: string;
  readonly graphs: readonly GraphTable[];
  readonly kernels: readonly Whole<Kernel>[];
  readonly listings: readonly Required<Listing>[];
  /** Class names by dotted path. */
  readonly modules: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
  readonly marks: readonly Mark[];
  /** What the kernels ask of the accelerator. */
  readonly specs: Whole<DeviceSpecs> | null;
}

const FORMAT = "inductor-debug-graph";
const SCHEMA = 1;

/** @throws FormatError where the content is damaged, foreign, or of another schema. */
export function readDocument(content: ArrayBuffer | Uint8Array): Document {
  let said: unknown;
  try {
    said = decode(content);
  } catch (error) {
    throw new FormatError(`This is no graph file, or a damaged one: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isMap(said) || said["format"] !== FORMAT) throw new FormatError("This is no graph file of Inductor Debug.");
  if (said["schema"] !== SCHEMA) throw new FormatError(`The graph file has schema ${String(said["schema"])}, which is not known here.`);
  const strings = list(said["strings"], text);
  const places = readPlaces(said, strings);
  const tables: Tables = { strings, places, shapes: readShapes(said, strings) };
  return {
    target: text(said["target"]),
    stage: text(said["stage"]),
    path: text(said["path"]),
    digest: text(said["digest"]),
    accelerator: text(said["accelerator"]),
    torch: text(said["torch"]),
    graphs: list(said["graphs"], (graph) => readGraph(map(graph), tables)),
    kernels: list(said["kernels"], (kernel) => readKernel(map(kernel), tables)),
    listings: list(said["listings"], (listing) => readListing(map(listing), tables)),
    modules: Object.fromEntries(Object.entries(map(said["modules"])).map(([path, name]) => [path, text(name)])),
    notes: list(said["notes"], text),
    marks: list(said["marks"], (mark) => readMarks(map(mark), tables)).flat(),
    specs: optional(said["specs"], readSpecs),
  };
}

interface Tables {
  readonly strings: readonly string[];
  readonly shapes: readonly string[];
  readonly places: readonly Location[];
}

function readGraph(said: Said, tables: Tables): GraphTable {
  const { strings } = tables;
  const names = column(said["names"], strings.length);
  const count = names.length;
  const words = (name: string, table: readonly string[]): Words => {
    const codes = column(said[name], table.length);
    if (codes.length !== count) throw damaged();
    return { words: table, codes };
  };
  const lists = (name: string): Lists => readLists(said[`${name}_at`], column(said[name], strings.length), count);
  const places = column(said["places"], tables.places.length);
  const sizes = numbers(said["bytes"]);
  const [flops, written] = [numbers(said["flops"]), numbers(said["written"])];
  // Files of older versions do not know seconds.
  const seconds = said["seconds"] === undefined ? new Float64Array(count).fill(-1) : numbers(said["seconds"]);
  const roles = column(said["roles"], ROLES.length);
  const kinds = column(said["kinds"], KINDS.length);
  if ([places, sizes, flops, written, seconds, roles, kinds].some((one) => one.length !== count)) throw damaged();
  return {
    name: text(said["name"]),
    kind: text(said["kind"]) as GraphKind,
    madeFrom: text(said["made_from"]),
    count,
    names: { words: strings, codes: names },
    ops: words("ops", strings),
    roles: Uint8Array.from(roles),
    inputs: resolve(names, lists("inputs")),
    shapes: words("shapes", tables.shapes),
    dtypes: words("dtypes", strings),
    bytes: sizes,
    details: words("details", strings),
    modules: words("modules", strings),
    places: tables.places,
    placeOf: new Int32Array(places.buffer, places.byteOffset, places.length),
    origins: lists("origins"),
    forward: lists("forward"),
    kernels: lists("kernels"),
    flops,
    written,
    seconds,
    kinds: Int8Array.from(kinds),
  };
}

/** Names of inputs become indices of nodes. Names that no earlier node has are left out. */
function resolve(names: Uint32Array, inputs: Lists): Lists {
  const index = new Map<number, number>();
  const offsets = new Uint32Array(names.length + 1);
  const values = new Uint32Array(inputs.values.length);
  let filled = 0;
  for (let node = 0; node < names.length; node += 1) {
    for (let at = inputs.offsets[node] ?? 0; at < (inputs.offsets[node + 1] ?? 0); at += 1) {
      const input = index.get(inputs.values[at] ?? 0);
      if (input === undefined) continue;
      values[filled] = input;
      filled += 1;
    }
    offsets[node + 1] = filled;
    index.set(names[node] ?? 0, node);
  }
  return { offsets, values: values.subarray(0, filled) };
}

function readLists(at: unknown, values: Uint32Array, count: number): Lists {
  const offsets = column(at, values.length + 1);
  if (offsets.length === 0) return { offsets: new Uint32Array(count + 1), values: new Uint32Array(0) };
  if (offsets.length !== count + 1 || offsets.some((value, index) => index > 0 && value < (offsets[index - 1] ?? 0))) throw damaged();
  return { offsets, values };
}

function readShapes(said: Said, strings: readonly string[]): string[] {
  const sizes = numbers(said["shapes"]);
  const at = column(said["shapes_at"], sizes.length + 1);
  const shapes: string[] = [];
  for (let index = 0; index + 1 < at.length; index += 1) {
    const shape = [...sizes.subarray(at[index], at[index + 1])];
    shapes.push(`[${shape.map((size) => (size < 0 ? (strings[-1 - size] ?? "?") : String(size))).join(", ")}]`);
  }
  return shapes;
}

function readPlaces(said: Said, strings: readonly string[]): Location[] {
  const paths = column(said["place_path"], strings.length);
  const [lines, starts, endLines, ends] = ["line", "character", "end_line", "end_character"].map((end) => column(said[`place_${end}`], 2 ** 31));
  return [...paths].map((path, index) => ({
    path: strings[path] ?? "",
    range: {
      start: { line: lines?.[index] ?? 0, character: starts?.[index] ?? 0 },
      end: { line: endLines?.[index] ?? 0, character: ends?.[index] ?? 0 },
    },
  }));
}

function readKernel(said: Said, { strings, places }: Tables): Whole<Kernel> {
  return {
    name: text(said["name"]),
    language: text(said["language"]),
    source: text(said["source"]),
    graph: text(said["graph"]),
    nodes: [...column(said["nodes"], strings.length)].map((code) => strings[code] ?? ""),
    places: chosen(said["places"], places),
    build: optional(said["build"], readBuild),
    unfused: list(said["unfused"] ?? [], readUnfused),
    lines: said["lines"] === undefined ? [] : linePlaces(said["lines"], said["line_places"], places), // files of older versions have none
  };
}

function readUnfused(value: unknown): UnfusedKernel {
  const said = map(value);
  return { kernel: text(said["kernel"]), reads: flag(said["reads"]), why: text(said["why"]) };
}

function readListing(said: Said, { places }: Tables): Required<Listing> {
  return {
    title: text(said["title"]),
    language: text(said["language"]),
    text: text(said["text"]),
    graph: text(said["graph"]),
    places: linePlaces(said["lines"], said["places"], places),
  };
}

function linePlaces(lines: unknown, known: unknown, places: readonly Location[]): LinePlace[] {
  const numbers = column(lines, 2 ** 31);
  return chosen(known, places).map((place, index) => ({ line: numbers[index] ?? 0, place }));
}

function readMarks(said: Said, { strings, places }: Tables): Mark[] {
  const nodes = [...column(said["nodes"], strings.length)].map((code) => strings[code] ?? "");
  return chosen(said["place"], places).map((place) => ({ rule: text(said["rule"]), graph: text(said["graph"]), place, nodes }));
}

function chosen(said: unknown, places: readonly Location[]): Location[] {
  return [...column(said, places.length)].flatMap((code) => places[code] ?? []);
}

const NONE = 0xffffffff;

/** An `i4` column, each value below a bound or -1 (here 2³² - 1). */
function column(said: unknown, below: number): Uint32Array {
  const bytes = binary(said, 4);
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  const values = new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 4);
  for (const value of values) if (value >= below && value !== NONE) throw damaged();
  return values;
}

/** An `f8` column. */
function numbers(said: unknown): Float64Array {
  const bytes = binary(said, 8);
  const aligned = bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
  return new Float64Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 8);
}

function binary(said: unknown, width: number): Uint8Array {
  if (!(said instanceof Uint8Array) || said.byteLength % width !== 0) throw damaged();
  return said;
}
