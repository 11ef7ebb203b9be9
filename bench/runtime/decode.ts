/**
 * What one watch event costs before anybody looks at the object: `node bench/runtime/decode.ts [events]`. Prints CPU
 * microseconds per event for each step, on a 3 KB custom resource and a 7 KB Pod. Compare columns, not machines.
 */
import type { Entry } from '../../packages/kube/src/cache/entry.ts';
import { ObjectDecoder } from '../../packages/kube/src/cache/object-decoder.ts';
import { ParsedObjects } from '../../packages/kube/src/cache/parsed-objects.ts';
import { Slabs } from '../../packages/kube/src/cache/slabs.ts';
import { EventScan } from '../../packages/kube/src/reflector/event-scan.ts';
import { LineSplitter } from '../../packages/kube/src/reflector/line-splitter.ts';
import { customResourceEvent, podEvent } from './objects.ts';

const count = Number(process.argv[2] ?? 20_000);

function measure(name: string, run: (index: number) => void): void {
  for (let i = 0; i < Math.min(count, 5_000); i += 1) run(i);
  const before = process.cpuUsage();
  for (let i = 0; i < count; i += 1) run(i);
  const { user, system } = process.cpuUsage(before);
  console.log(`  ${name.padEnd(46)} ${((user + system) / count).toFixed(2).padStart(8)} µs`);
}

function bench(title: string, make: (index: number) => unknown, kind: string, group: string): void {
  const lines = Array.from({ length: 500 }, (_, i) => Buffer.from(`${JSON.stringify(make(i))}\n`));
  const bytes = lines.reduce((sum, line) => sum + line.length, 0) / lines.length;
  console.log(`${title}: ${Math.round(bytes)} bytes per event, ${count} events`);
  const line = (index: number) => lines[index % lines.length]!;

  const decoderOf = (slabs: Slabs) =>
    new ObjectDecoder(
      {
        kind: {
          group,
          version: 'v1',
          kind,
          plural: 'x',
          scope: 'Namespaced',
          apiVersion: group ? `${group}/v1` : 'v1',
        },
        metadataOnly: false,
        stripManagedFields: true,
        fields: undefined,
      },
      slabs,
    );

  const stream = Buffer.concat(lines);
  let split = 0;
  const splitter = new LineSplitter(() => {
    split += 1;
  });
  const chunks: Buffer[] = [];
  for (let at = 0; at < stream.length; at += 65_536) chunks.push(stream.subarray(at, at + 65_536));
  measure('split lines (64 KB chunks)', (index) => {
    if (index % lines.length === 0) for (const chunk of chunks) splitter.push(chunk);
  });
  if (split === 0) throw new Error('nothing was split');

  const event = new EventScan();
  const decoder = decoderOf(new Slabs());
  measure('envelope and header scan', (index) => {
    const bytesOfLine = line(index);
    event.scan(bytesOfLine, 0, bytesOfLine.length);
    decoder.scan(bytesOfLine, event.objectStart, event.objectEnd);
  });

  const slabs = new Slabs();
  const keeping = decoderOf(slabs);
  const held: Entry[] = [];
  measure('scan, cut and keep', (index) => {
    const bytesOfLine = line(index);
    event.scan(bytesOfLine, 0, bytesOfLine.length);
    keeping.scan(bytesOfLine, event.objectStart, event.objectEnd);
    const old = held[index % lines.length];
    held[index % lines.length] = keeping.keep();
    if (old) slabs.release(old);
  });

  const parsed = new ParsedObjects(0, false);
  measure('metadata of a kept object', (index) => void parsed.meta(held[index % lines.length]!));
  measure('parse of a kept object', (index) => void parsed.parse(held[index % lines.length]!));
  measure('plain JSON.parse of the whole line', (index) => void JSON.parse(line(index).toString('utf8')));
  const kept = held.reduce((sum, entry) => sum + entry.length, 0) / held.length;
  console.log(`  kept per object: ${Math.round(kept)} bytes\n`);
}

bench('custom resource', customResourceEvent, 'Website', 'example.com');
bench('Pod', podEvent, 'Pod', '');
