/**
 * Pages and views given whatever fits the wire, however odd: sizes below nothing, places outside of what they count, texts that are names of
 * Python or of JavaScript. They may draw nonsense of nonsense, but they never throw. Files that were torn are refused as damaged.
 */

import fc from "fast-check";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import type {
  AnalysisNotification, CompileTimeDocument, DiffDocument, LineTensors, MemoryDocument, RooflineDocument, RunProfileDocument, TargetReport,
} from "../../../shared_schema/generated/wire.js";
import { coverage, outcome } from "../../src/common/words.js";
import { stageWords } from "../../src/findings/tree.js";
import { heatOf } from "../../src/heat/lines.js";
import { measuredIn } from "../../src/heat/measured.js";
import { depthOf, layOut, partsOf as phasesOf, rowsOf as timeRows, slabsOf } from "../../webview/charts/compileTimeModel.js";
import { bandsOf, byteTicks, heldAt, modulesIn, operationsIn, totalsOf } from "../../webview/charts/memoryModel.js";
import { kernelsOf, nameOfExpression, overBound, partsOf, profileRows, sortedProfile } from "../../webview/charts/profileModel.js";
import { decades, dotsOf, extentOf, rowsOf, shareWithoutDots, sortedRows } from "../../webview/charts/rooflineModel.js";
import { readDocument } from "../../webview/graph/model/columns.js";
import { FormatError } from "../../webview/graph/model/values.js";
import { grown } from "../../webview/kerneldiff/growing.js";
import { leadingOf, MapsError, readMaps, scaleOf, sliceOf, worstSlice } from "../../webview/kerneldiff/maps.js";
import { blameGroups, multipleOf, opText, rankedNodes, relativeOf, short, sorted, typeText } from "../../webview/kerneldiff/model.js";
import { readTold } from "../../webview/shared/wire.js";
import { curvePoints, dimensionsOf, groupsOf, sticksOf, wasteOf } from "../../webview/tensors/model.js";
import { placeText } from "../../webview/shared/places.js";
import { summary } from "../../webview/tensors/texts.js";
import { fitting } from "./hostile.js";

const GOLDEN = join(import.meta.dirname, "..", "..", "..", "shared_schema", "golden");

/** Holds for a hundred values of a shape. */
function always(shape: string, shown: (value: never) => void): void {
  fc.assert(fc.property(fitting(shape), (value) => { shown(value as never); }));
}

/** What is worked out and looked at. */
const draw = (...worked: readonly unknown[]): void => { JSON.stringify(worked); };

describe("whatever fits the wire is shown", () => {
  test("how an analysis stands", () => {
    always("AnalysisNotification", (said: AnalysisNotification) => {
      outcome(said, said.targets ?? []);
    });
    always("TargetReport", (target: TargetReport) => {
      coverage(target, 2);
      for (const stage of target.stages ?? []) stageWords(stage);
    });
  });

  test("the memory over a run", () => {
    always("MemoryDocument", (shown: MemoryDocument) => {
      for (const by of ["kind", "module"] as const) totalsOf(bandsOf(shown, by), operationsIn(shown));
      modulesIn(shown);
      for (const at of [-1, 0, shown.peak]) heldAt(shown, at);
      byteTicks(shown.peak_bytes, 5);
    });
  });

  test("the roofline", () => {
    always("RooflineDocument", (shown: RooflineDocument) => {
      const dots = dotsOf(shown);
      extentOf(shown, dots);
      shareWithoutDots(shown, dots);
      for (const by of ["expression", "line", "module", "operator"] as const) for (const column of ["name", "share", "intensity"] as const) sortedRows(rowsOf(shown.cost, by), column, true);
    });
    expect(decades(Number.MIN_VALUE, Infinity, 8).length).toBeLessThan(20);
  });

  test("where compiling goes", () => {
    always("CompileTimeDocument", (shown: CompileTimeDocument) => {
      for (const together of [false, true]) {
        const slab = slabsOf(shown, together);
        layOut(slab, 0.01);
        depthOf(slab);
        for (const by of ["expression", "module", "phase"] as const) timeRows(shown, by, together);
      }
      phasesOf(shown);
    });
  });

  test("a profile", () => {
    always("RunProfileDocument", (shown: RunProfileDocument) => {
      partsOf(shown);
      for (const row of shown.expressions) draw(nameOfExpression(row), kernelsOf(row));
      for (const by of ["expression", "kernel", "gap"] as const) for (const row of sortedProfile(profileRows(shown, by), "over", true)) overBound(row);
    });
  });

  test("a comparison, also while it grows", () => {
    always("DiffDocument", (shown: DiffDocument) => {
      const ranked = rankedNodes(shown);
      for (const column of ["blame", "op", "isolated", "growth"] as const) sorted(ranked, column, true);
      blameGroups(shown);
      measuredIn(shown);
      heatOf(shown, "a.py");
      for (const { op, isolated, replaced } of shown.nodes) draw(opText(op), multipleOf(isolated), relativeOf(isolated), short(replaced));
      for (const { dtype, shape } of shown.outputs) typeText(dtype, shape);
    });
    fc.assert(fc.property(fitting("DiffDocument"), fitting("DiffPiece"), (document, piece) => {
      grown(document as DiffDocument, piece as never);
      grown(undefined, piece as never);
    }));
  });

  test("the tensors of a line", () => {
    always("LineTensors", (line: LineTensors) => {
      const { rows = [] } = line;
      for (const order of ["line", "bytes", "name", "dtype"] as const) groupsOf(rows, order);
      for (const row of rows) {
        dimensionsOf(row);
        summary(row);
        if (row.layout) draw(sticksOf(row.layout, row.sizes), wasteOf(row.layout));
        if (row.made) placeText(row.made);
      }
      curvePoints(line.curve ?? [], 200, 40);
    });
  });
});

describe("files that were torn", () => {
  const graph = readFileSync(join(GOLDEN, "GraphColumns.graph"));
  const maps = readFileSync(join(GOLDEN, "ErrorMaps.maps"));
  const wounds = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 6 });

  /** Bytes that were changed here and there, and perhaps cut. */
  function tornBytes(whole: Uint8Array): fc.Arbitrary<Uint8Array> {
    return fc.tuple(wounds, fc.option(fc.nat({ max: whole.length }))).map(([changes, end]) => {
      const copy = Uint8Array.from(whole);
      for (const [at, byte] of changes) copy[at % copy.length] = byte;
      return end === null ? copy : copy.slice(0, end);
    });
  }

  test("a graph is read, or refused as damaged", () => {
    readDocument(graph);
    fc.assert(fc.property(fc.oneof(tornBytes(graph), fc.uint8Array({ maxLength: 200 })), (bytes) => {
      expect(() => { readDocument(bytes); }).toThrowOnly(FormatError);
    }), { numRuns: 2000 });
  });

  test("maps of errors are drawn, or refused as damaged", () => {
    fc.assert(fc.property(fc.oneof(tornBytes(maps), fc.uint8Array({ maxLength: 200 })), (bytes) => {
      expect(() => {
        for (const map of readMaps(bytes)) {
          leadingOf(map);
          scaleOf(map);
          sliceOf(map, worstSlice(map));
        }
      }).toThrowOnly(MapsError);
    }), { numRuns: 2000 });
  });
});

test("what the reader lets through is what these were shown", () => {
  fc.assert(fc.property(fitting("MemoryDocument"), (said) => { expect(readTold("MemoryDocument", said)).toEqual(said); }), { numRuns: 20 });
});

expect.extend({
  toThrowOnly(act: () => void, kind: new () => Error) {
    try {
      act();
    } catch (error) {
      if (!(error instanceof kind)) return { pass: false, message: () => `threw ${String(error)}${error instanceof Error ? `\n${error.stack ?? ""}` : ""}` };
    }
    return { pass: true, message: () => "" };
  },
});

declare module "vitest" {
  interface Assertion {
    toThrowOnly(kind: new (message?: string) => Error): void;
  }
}
