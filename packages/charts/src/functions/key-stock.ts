import { generateKeyPair, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

/** Bits of the keys certificates get. */
const certificateBits = 2048;
/** Never more at once, whatever a chart did last time. */
const mostKeys = 16;
const mostCharts = 500;

/**
 * RSA keys, made ahead on other threads. A template cannot wait, and making a key takes longer than rendering most charts: so
 * they are begun before the templates are parsed, as many as the chart took last time. None for a chart nobody has seen: most
 * that could make a key do not, and a process cannot end before a key that was begun. Each key is given out once.
 */
class KeyStock {
  readonly #ready: KeyObject[] = [];
  readonly #underWay = new Set<Promise<void>>();
  /** How many keys a chart took when it was last rendered. */
  readonly #taken = new Map<string, number>();
  #count = 0;

  /** Begins the keys a chart will probably ask for. */
  begin(chart: string): void {
    const missing = Math.min(this.#taken.get(chart) ?? 0, mostKeys) - this.#ready.length - this.#underWay.size;
    for (let each = 0; each < missing; each += 1) {
      const work: Promise<void> = promisify(generateKeyPair)('rsa', { modulusLength: certificateBits })
        .then(({ privateKey }) => void this.#ready.push(privateKey))
        // Whoever takes a key then makes it, and says why it cannot be made.
        .catch(() => undefined)
        .finally(() => this.#underWay.delete(work));
      this.#underWay.add(work);
    }
  }

  /** Waits for them when the chart is known to take some; else takes what is there by now. */
  async arrive(chart: string): Promise<void> {
    if ((this.#taken.get(chart) ?? 0) > 0) await Promise.all(this.#underWay);
    else await new Promise(setImmediate);
    // Templates run without a pause from here on: what is counted is this chart's.
    this.#count = 0;
  }

  take(): KeyObject {
    this.#count += 1;
    return this.#ready.pop() ?? generateKeyPairSync('rsa', { modulusLength: certificateBits }).privateKey;
  }

  /** The chart is rendered: remembers what it took. */
  note(chart: string): void {
    this.#taken.delete(chart);
    this.#taken.set(chart, this.#count);
    const [oldest] = this.#taken.keys();
    if (this.#taken.size > mostCharts) this.#taken.delete(oldest!);
  }
}

export const keyStock = new KeyStock();

const makers = ['genCA', 'genSelfSignedCert', 'genSignedCert'].map((name) => Buffer.from(name));

/** Whether a template calls, or might call, a function that needs a new key. */
export function mentionsKeys(template: Uint8Array): boolean {
  const text = Buffer.from(template.buffer, template.byteOffset, template.byteLength);
  return makers.some((maker) => text.includes(maker));
}
