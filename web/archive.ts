/** A zip file that depends on names and contents only: in order, stored, with one time for all. */

import { crc32 } from "node:zlib";

/** 1 January 1980, 0:00: the first time that a zip file can hold. */
const TIME = 0x0021_0000;
/** Names are UTF-8. */
const UTF8 = 0x0800;
const VERSION = 20;

/**
 * Return the zip file of these files, in the order of their names.
 *
 * Nothing is compressed: what a compressor writes changes with its version.
 */
export function archive(files: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const [parts, listed] = [[] as Buffer[], [] as Buffer[]];
  let at = 0;
  for (const name of [...files.keys()].sort()) {
    const [label, bytes] = [Buffer.from(name), Buffer.from(files.get(name) as Uint8Array)];
    const common = commonOf(label, bytes);
    parts.push(numbers([4, 0x04034b50]), common, label, bytes);
    const rest = numbers([2, 0], [2, 0], [2, 0], [4, 0], [4, at]);
    listed.push(numbers([4, 0x02014b50], [2, VERSION]), common, rest, label);
    at += 4 + common.length + label.length + bytes.length;
  }
  const directory = Buffer.concat(listed);
  const [count, size] = [files.size, directory.length];
  const end = numbers([4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], [4, size], [4, at]);
  return Buffer.concat([...parts, directory, end, numbers([2, 0])]);
}

/** What a file's own header and its line of the directory have in common. */
function commonOf(label: Buffer, bytes: Buffer): Buffer {
  const size: Field = [4, bytes.length];
  const flags: Field[] = [
    [2, VERSION],
    [2, UTF8],
    [2, 0],
    [4, TIME],
  ];
  return numbers(...flags, [4, crc32(bytes)], size, size, [2, label.length], [2, 0]);
}

/** A number and how many bytes it takes, the lowest first. */
type Field = readonly [bytes: number, value: number];

function numbers(...fields: readonly Field[]): Buffer {
  return Buffer.concat(
    fields.map(([bytes, value]) => {
      const made = Buffer.alloc(bytes);
      made.writeUIntLE(value, 0, bytes);
      return made;
    }),
  );
}
