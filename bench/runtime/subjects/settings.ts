import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

/** What every subject written in TypeScript is told; the Go peer has the same flags. */
export function subjectSettings(): { url: string; ca: string; kind: 'website' | 'pod'; objects: number } {
  const { values } = parseArgs({
    options: {
      url: { type: 'string' },
      ca: { type: 'string' },
      kind: { type: 'string' },
      objects: { type: 'string', default: '0' },
    },
  });
  return {
    url: values.url!,
    ca: readFileSync(values.ca!, 'utf8'),
    kind: values.kind as 'website' | 'pod',
    objects: Number(values.objects),
  };
}

/** One line for the driver. */
export function say(event: string, fields: Readonly<Record<string, unknown>> = {}): void {
  process.stdout.write(`${JSON.stringify({ event, ...fields })}\n`);
}
