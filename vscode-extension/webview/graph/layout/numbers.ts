/** Lists of numbers that grow and numbers for pairs of numbers, without an object or a text for each: folds look at ten thousands. */

export class Numbers {
  private values = new Int32Array(1024);
  size = 0;

  push(value: number): void {
    if (this.size === this.values.length) {
      const larger = new Int32Array(this.size * 2);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.size] = value;
    this.size += 1;
  }

  /** Empty again; the room that it has taken stays. */
  clear(): void {
    this.size = 0;
  }

  all(): Int32Array {
    return this.values.slice(0, this.size);
  }

  /** What is in it, until it is changed. */
  view(): Int32Array {
    return this.values.subarray(0, this.size);
  }

  /** Takes as many as another has, each at the place that is given for it. */
  sort(other: Numbers, places: Uint32Array): void {
    if (this.values.length < other.size) this.values = new Int32Array(other.values.length);
    this.size = other.size;
    for (let at = 0; at < other.size; at += 1) this.values[places[at] ?? 0] = other.values[at] ?? 0;
  }
}

/** Pairs of numbers, numbered in the order in which they come. A hash table with open addressing. */
export class Pairs {
  private firsts = new Int32Array(2048);
  private seconds = new Int32Array(2048);
  /** The pair's number + 1; 0 where the slot is free. */
  private numbers = new Int32Array(2048);
  size = 0;

  /** Empty again; the room that it has taken stays. */
  clear(): void {
    this.numbers.fill(0);
    this.size = 0;
  }

  /** True where the pair is new. */
  add(first: number, second: number): boolean {
    const before = this.size;
    return this.indexOf(first, second) === before;
  }

  /** The pair's number; a pair that was not known gets the next. */
  indexOf(first: number, second: number): number {
    if (this.size * 2 >= this.numbers.length) this.grow();
    const slot = this.slotOf(first, second);
    const known = this.numbers[slot] ?? 0;
    if (known > 0) return known - 1;
    this.size += 1;
    this.put(slot, first, second, this.size);
    return this.size - 1;
  }

  private slotOf(first: number, second: number): number {
    const mask = this.numbers.length - 1;
    let hash = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b);
    hash ^= hash >>> 15;
    let slot = hash & mask;
    while ((this.numbers[slot] ?? 0) > 0 && (this.firsts[slot] !== first || this.seconds[slot] !== second)) slot = (slot + 1) & mask;
    return slot;
  }

  private put(slot: number, first: number, second: number, number: number): void {
    this.firsts[slot] = first;
    this.seconds[slot] = second;
    this.numbers[slot] = number;
  }

  private grow(): void {
    const { firsts, seconds, numbers } = this;
    [this.firsts, this.seconds, this.numbers] = [new Int32Array(numbers.length * 2), new Int32Array(numbers.length * 2), new Int32Array(numbers.length * 2)];
    numbers.forEach((number, slot) => {
      const [first, second] = [firsts[slot] ?? 0, seconds[slot] ?? 0];
      if (number > 0) this.put(this.slotOf(first, second), first, second, number);
    });
  }
}
