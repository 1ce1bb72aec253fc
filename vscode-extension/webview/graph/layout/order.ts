/** A topological order that stays close to the given one, in linear time; cycles do no harm. */

/**
 * `count` things, `before(thing)` those that come before it. Each thing is put right behind what it needs, otherwise the order
 * is that of the numbers. An edge that closes a cycle is ignored.
 */
export function topological(count: number, before: (thing: number) => readonly number[]): number[] {
  const order: number[] = [];
  const seen = new Uint8Array(count); // 1: on the stack, 2: placed
  const stack: { thing: number; needs: readonly number[]; next: number }[] = [];
  for (let start = 0; start < count; start += 1) {
    if (seen[start]) continue;
    seen[start] = 1;
    stack.push({ thing: start, needs: before(start), next: 0 });
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const need = top.needs[top.next];
      top.next += 1;
      if (need === undefined) {
        seen[top.thing] = 2;
        order.push(top.thing);
        stack.pop();
      } else if (seen[need] === 0) {
        seen[need] = 1;
        stack.push({ thing: need, needs: before(need), next: 0 });
      }
    }
  }
  return order;
}
