import type { Json } from '../differential/case.ts';
import { groups } from '../differential/groups.ts';
import { places, type Place } from '../options/places.ts';
import type { Asked, Swept } from '../options/sweep.ts';
import { mutantsOf } from './mutants.ts';

/** An object of a built-in kind with one thing wrong, to be created without being kept. */
export interface Probe extends Asked {
  readonly name: string;
}

/** The code of an answer; of a 422 each field it names and the reason, in the order of the alphabet. */
export type Answer = number | readonly string[];

/** By place, and by what is wrong there. */
export type Answers = Readonly<Record<string, Readonly<Record<string, Answer>>>>;

const headers = { accept: 'application/json', 'content-type': 'application/json' };
const isSpared = (path: string) => /^(apiVersion|kind|metadata)(\.|$)/.test(path);

/** The kinds whose objects are swept; custom resources are validated by schemas, which have tests of their own. */
const kinds = places.filter(({ subresource, collection }) => !subresource && !collection.includes('example.com'));

/** Every object of the differential cases that is created as one of these kinds, and the small example of each. */
function bodiesAt(place: Place): Json[] {
  const { apiVersion, kind, collection } = place;
  const sent = groups
    .flatMap(({ cases }) => cases.flatMap(({ steps }) => steps))
    .flatMap((step) => {
      if (step.does !== 'send' || step.method !== 'POST' || typeof step.body !== 'object') return [];
      return filled(step.path).split('?')[0] === collection ? [JSON.parse(filled(JSON.stringify(step.body)))] : [];
    });
  // Definitions are large, and every place of them would be tried for each of the many in the cases.
  return [place.example(1).object, ...(kind === 'CustomResourceDefinition' ? [] : sent)]
    .filter((body) => !JSON.stringify(body).includes('x'.repeat(1_000)))
    .map((body) => ({ apiVersion, kind, ...body }));
}

function filled(text: string): string {
  return text.replaceAll('{ns}', 'default').replaceAll(/\{[a-z]\w*\}/gi, '1');
}

/** What is asked at a place, each body once. */
export function probesAt(place: Place): Probe[] {
  const probes = new Map<string, Probe>();
  for (const [index, body] of bodiesAt(place).entries()) {
    for (const mutant of [{ name: 'as it is', body }, ...mutantsOf(body, isSpared)]) {
      const text = JSON.stringify(mutant.body);
      if (probes.has(text)) continue;
      const path = `${place.collection}?dryRun=All&fieldValidation=Ignore`;
      probes.set(text, { name: `${index} ${mutant.name}`, method: 'POST', path, headers, body: text });
    }
  }
  return [...probes.values()];
}

function answerOf({ status, text }: { readonly status: number; readonly text: string }): Answer {
  if (status !== 422) return status;
  const { details } = JSON.parse(text) as Json;
  const causes: Json[] = details?.causes ?? [];
  return [...new Set(causes.map(({ field, reason }) => `${field} ${reason}`))].toSorted();
}

/** @param share every how manyeth probe is sent */
export async function ask(server: Pick<Swept, 'send'>, share = 1): Promise<Answers> {
  const answers: Record<string, Record<string, Answer>> = {};
  for (const place of kinds) {
    const probes = probesAt(place).filter((_, index) => index % share === 0);
    answers[place.name] = {};
    for (const probe of probes) {
      // The real server panics over a few of these and ends the connection; there is nothing to compare with then.
      const answer = await server.send(probe).catch(() => undefined);
      if (answer) answers[place.name]![probe.name] = answerOf(answer);
    }
  }
  return answers;
}
