import { setTimeout as wait } from 'node:timers/promises';
import type { CollectWatch, DifferentialCase, Json, Send } from './case.ts';
import { normalise, type Exchange, type RawExchange } from './normalise.ts';
import type { Target, TargetAnswer, TargetWatch } from './target.ts';

/** On a busy machine a real server may take this long; nothing that comes in time waits for it. */
const patienceMs = 120_000;

/** The namespace a case has for itself. */
export function namespaceOf(name: string): string {
  return `d-${name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 50)
    .replace(/-$/, '')}`;
}

/** Sends the requests of a case and gives what came back, made comparable. */
export async function replay(
  { name, steps }: DifferentialCase,
  target: Target,
  given: Readonly<Record<string, string>> = {},
): Promise<Exchange[]> {
  const ns = namespaceOf(name);
  const variables: Record<string, string> = { ...given, ns };
  const fill = (text: string) => text.replaceAll(/\{([a-z]\w*)\}/gi, (whole, key: string) => variables[key] ?? whole);
  const transmit = ({ method, path, headers, body }: Send) => {
    const filled = body === undefined ? undefined : fill(typeof body === 'string' ? body : JSON.stringify(body));
    const all: Record<string, string> = {
      accept: 'application/json',
      ...(filled === undefined ? {} : { 'content-type': 'application/json' }),
    };
    for (const [key, value] of Object.entries(headers ?? {})) all[key] = fill(value);
    return target.send({ method, path: fill(path), headers: all, ...(filled === undefined ? {} : { body: filled }) });
  };

  await transmit({
    does: 'send',
    label: 'namespace',
    method: 'POST',
    path: '/api/v1/namespaces',
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: ns } },
  });
  const exchanges: RawExchange[] = [];
  const watches = new Map<string, TargetWatch>();
  for (const step of steps) {
    if (step.does === 'send') {
      const answer = await transmit(step).catch((error: unknown) => {
        throw new Error(`${name}: ${step.label}`, { cause: error });
      });
      const body = parsed(answer);
      for (const [key, read] of Object.entries(step.save ?? {})) {
        variables[key] = String(saved(() => read(body), `${name}: ${step.label}: ${key}`, answer));
      }
      exchanges.push({ step: step.label, answer, body: step.pick ? step.pick(body) : body });
    } else if (step.does === 'poll') {
      const deadline = performance.now() + patienceMs;
      for (;;) {
        const answer = await transmit(step.request);
        if (step.until({ status: answer.status, body: parsed(answer) })) break;
        if (performance.now() > deadline) throw new Error(`${name}: waited too long for ${step.what}: ${answer.text}`);
        await wait(20);
      }
    } else if (step.does === 'open') {
      const headers = { accept: 'application/json', ...step.headers };
      watches.set(step.watch, await target.watch(fill(step.path), headers));
    } else if (step.does === 'compact') {
      await target.compact();
    } else {
      const watch = watches.get(step.watch);
      if (!watch) throw new Error(`${name}: no watch ${step.watch} is open`);
      exchanges.push(await collected(step, watch, target));
    }
  }
  for (const watch of watches.values()) watch.close();
  return normalise(exchanges);
}

async function collected(step: CollectWatch, watch: TargetWatch, target: Target): Promise<RawExchange> {
  const { events: wanted } = step;
  const enough = () => {
    if (watch.ended || wanted === 'end') return watch.ended;
    if (typeof wanted === 'number') return watch.lines.length >= wanted;
    return watch.lines.some((line) => wanted(JSON.parse(line)));
  };
  if (!enough()) {
    await new Promise<void>((resolve) => {
      const giveUp = AbortSignal.timeout(patienceMs);
      giveUp.addEventListener('abort', () => resolve());
      watch.onChange(() => {
        if (enough()) resolve();
      });
    });
  }
  // What is in excess has to have a chance to come: one more round trip, and on a real cluster some time.
  await target.send({ method: 'GET', path: '/healthz', headers: {} });
  await wait(target.settleMs);
  const { status, headers } = watch;
  watch.close();
  const events = watch.lines.map((line) => JSON.parse(line) as Json).filter((event) => !isHeartbeat(event));
  return {
    step: `watch ${step.watch}`,
    answer: { status, headers, text: '' },
    body: step.pick ? events.map(step.pick) : events,
  };
}

/** Bookmarks come when the server thinks fit, except the one that ends the initial events. */
function isHeartbeat({ type, object }: Json): boolean {
  return type === 'BOOKMARK' && !object.metadata?.annotations;
}

function parsed({ text }: TargetAnswer): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function saved(read: () => unknown, what: string, answer: TargetAnswer): unknown {
  try {
    const value = read();
    if (value !== undefined) return value;
  } catch {
    // Told below.
  }
  throw new Error(`${what} is not in the answer ${answer.status} ${answer.text.slice(0, 300)}`);
}
