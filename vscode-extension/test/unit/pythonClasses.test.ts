import { describe, expect, test } from "vitest";

import { classesOf, directiveText, problemOf, tuple } from "../../src/pythonClasses.js";

const FILE = `import torch

# about the model
# inductor-debug: inputs=(torch.randn(8, 64),), init=(64, 10), train
@final
@dataclass(eq=False)
class Classifier(nn.Module):
    def __init__(self, width: int, classes, *, bias: bool = True, act=torch.relu) -> None:
        super().__init__()

class Helper:
    def __init__(self,
                 size,  # how big
                 names: dict[str, int] = {}):
        pass

class Empty(torch.nn.Module): pass
`;

describe("classes are found with what a directive above them needs", () => {
  const [classifier, helper, empty] = classesOf(FILE);

  test("names, modules and arguments without a default", () => {
    expect(classesOf(FILE).map(({ name, isModule, required }) => [name, isModule, required])).toEqual([
      ["Classifier", true, ["width", "classes"]],
      ["Helper", false, ["size"]],
      ["Empty", true, []],
    ]);
  });

  test("the place is above the decorators", () => {
    expect([classifier?.line, classifier?.top]).toEqual([6, 4]);
    expect(helper?.top).toBe(helper?.line);
  });

  test("a directive that is there is read with all it says", () => {
    expect(classifier?.directive).toEqual({
      line: 3,
      lastLine: 3,
      inputs: "(torch.randn(8, 64),)",
      init: "(64, 10)",
      others: ["train"],
    });
    expect(empty?.directive).toBeUndefined();
  });

  test("a directive over several lines is one", () => {
    const text = "# inductor-debug: inputs=(torch.randn(8,\n#     64),),\n#   eval\nclass A(nn.Module): pass\n";
    expect(classesOf(text)[0]?.directive).toMatchObject({ line: 0, lastLine: 2, others: ["eval"] });
  });

  test("an ignore comment is no directive", () => {
    expect(classesOf("# inductor-debug: ignore[dtype]\nclass A(nn.Module): pass\n")[0]?.directive).toBeUndefined();
  });
});

describe("what a user types becomes a directive", () => {
  test.each([
    ["torch.randn(8, 64)", "(torch.randn(8, 64),)"],
    ["a, b", "(a, b)"],
    ["(a, b)", "(a, b)"],
    ["(a,)", "(a,)"],
    ["(a)", "((a),)"],
    ["(a), (b)", "((a), (b))"],
    ["{'x': torch.ones(2)}", "{'x': torch.ones(2)}"],
    ["torch.ones(2),", "(torch.ones(2),)"],
    ["()", "()"],
  ])("%s is written as %s", (typed, written) => {
    expect(tuple(typed)).toBe(written);
  });

  test("nothing is lost of what else was said", () => {
    expect(directiveText("", "x", "3", ["train"])).toBe("# inductor-debug: inputs=(x,), init=(3,), train");
    expect(directiveText("", "x", "")).toBe("# inductor-debug: inputs=(x,)");
  });

  test.each([
    ["", "empty"],
    ["f(x", "unbalanced"],
    ["f(x))", "unbalanced"],
    ["f(')')", undefined],
    ["a\nb", "lines"],
  ] as const)("%j: %s", (typed, problem) => {
    expect(problemOf(typed)).toBe(problem);
  });
});
