import { test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { Channel } from "../channel.ts";

async function collect<T>(channel: Channel<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of channel) values.push(value);
  return values;
}

test("a channel gives values in their order, those pushed before and those pushed while it is read", async () => {
  const channel = new Channel<number>();
  channel.push(1);
  channel.push(2);
  const values = collect(channel);
  await Promise.resolve();
  channel.push(3);
  await new Promise((resolve) => setTimeout(resolve));
  channel.push(4);
  channel.close();
  assertEquals(await values, [1, 2, 3, 4]);
});

test("a channel that is closed at once is empty", async () => {
  const channel = new Channel<number>();
  channel.close();
  assertEquals(await collect(channel), []);
});

test("a channel that is closed with an error throws it behind the last value", async () => {
  const channel = new Channel<number>();
  channel.push(1);
  channel.close(new RangeError("over"));
  const values: number[] = [];
  await assertRejects(
    async () => {
      for await (const value of channel) values.push(value);
    },
    RangeError,
    "over",
  );
  assertEquals(values, [1]);
});
