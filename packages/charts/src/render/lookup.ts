import { ChartError } from '../chart/chart-error.ts';
import { fromPlain, isMap, type GoMap } from '../go/values.ts';

/** What a template asks the cluster for; an empty name asks for a list. */
export interface LookupQuery {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Answers the object or list, or `undefined` when there is none. An error fails the render. */
export type Lookup = (query: LookupQuery) => Promise<object | undefined>;

/** A chart that still asks new questions after so many passes asks for ever. */
const mostPasses = 10;
/** One that failed may have come to one question only. */
const mostPassesCutShort = 100;

/**
 * Templates are rendered without waiting, the cluster answers later. So a pass records what is asked and answers "nothing";
 * the questions are then asked together, and the chart is rendered again with the answers, until no new one comes up.
 */
export class LookupMemo {
  readonly #lookup: Lookup | undefined;
  readonly #answers = new Map<string, GoMap>();
  readonly #asked = new Map<string, LookupQuery>();
  passes = 0;
  #passesCutShort = 0;

  constructor(lookup: Lookup | undefined) {
    this.#lookup = lookup;
  }

  answer(apiVersion: string, kind: string, namespace: string, name: string): GoMap {
    const key = JSON.stringify([apiVersion, kind, namespace, name]);
    const known = this.#answers.get(key);
    // A template may change what it got.
    if (known) return fromPlain(known) as GoMap;
    if (this.#lookup) this.#asked.set(key, { apiVersion, kind, namespace, name });
    return new Map();
  }

  /** Fetches what the last pass asked for; false when it asked for nothing new. */
  async fetchMissing({ isCutShort }: { readonly isCutShort: boolean }): Promise<boolean> {
    if (this.#asked.size === 0) return false;
    this.passes += 1;
    if (isCutShort) this.#passesCutShort += 1;
    if (this.passes - this.#passesCutShort >= mostPasses || this.#passesCutShort >= mostPassesCutShort)
      throw new ChartError('TemplateExecution', `the templates look up something new in each of ${this.passes} passes`);
    const found = await Promise.all(
      [...this.#asked].map(async ([key, query]) => [key, await this.#lookup!(query)] as const),
    );
    for (const [key, object] of found) {
      const value = fromPlain(object ?? {});
      this.#answers.set(key, isMap(value) ? value : new Map());
    }
    this.#asked.clear();
    return true;
  }
}
