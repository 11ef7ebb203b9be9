import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Outcomes } from './sweep.ts';

const file = join(import.meta.dirname, '..', 'goldens', 'options.json');

/** What most places answer to a probe, and by place what is special about it. */
interface Golden {
  readonly most: Readonly<Record<string, string>>;
  readonly places: Outcomes;
}

/** What the real server answered to one probe at a place; undefined when it was not asked. */
export type Recorded = (place: string, probe: string) => string | undefined;

export async function readRecorded(): Promise<Recorded> {
  const { most, places } = JSON.parse(await readFile(file, 'utf8')) as Golden;
  return (place, probe) => (places[place] ? (places[place][probe] ?? most[probe]) : undefined);
}

/** One line for what most do, and one for each place: a re-recording shows what changed where. */
export async function writeRecorded(outcomes: Outcomes): Promise<void> {
  const votes = new Map<string, Map<string, number>>();
  for (const place of Object.values(outcomes)) {
    for (const [probe, outcome] of Object.entries(place)) {
      const of = votes.get(probe) ?? new Map<string, number>();
      votes.set(probe, of.set(outcome, (of.get(outcome) ?? 0) + 1));
    }
  }
  const most = Object.fromEntries(
    [...votes].map(([probe, of]) => [probe, [...of].toSorted(([, a], [, b]) => b - a)[0]![0]]),
  );
  const lines = (record: object) =>
    Object.entries(record).map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  const special = Object.fromEntries(
    Object.entries(outcomes).map(([place, all]) => [
      place,
      Object.fromEntries(Object.entries(all).filter(([probe, outcome]) => outcome !== most[probe])),
    ]),
  );
  const text = `{"most": {\n${lines(most).join(',\n')}\n},\n"places": {\n${lines(special).join(',\n')}\n}}\n`;
  await writeFile(file, text);
}
