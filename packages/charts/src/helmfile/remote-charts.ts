import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { TlsSettings } from '@slipway/kube';

import type { Chart } from '../chart/chart.ts';
import { loadChart } from '../chart/load.ts';
import type { ChartReference, ChartSource } from '../repository/chart-repositories.ts';
import type { ConfiguredRepository } from '../repository/helm-config.ts';
import { isOci } from '../repository/oci-reference.ts';
import { tlsSettings } from '../repository/tls-settings.ts';
import type { Spec } from './decode.ts';
import { HelmfileError } from './helmfile-error.ts';
import type { HelmfileRelease } from './release.ts';
import { flagOf, specsOf, textOf, type State } from './state.ts';

/** Makes a source of charts that knows these repositories, those of a state, before any others. */
export type OpenCharts = (repositories: readonly ConfiguredRepository[]) => Promise<ChartSource & AsyncDisposable>;

/** The charts of releases that are not on this machine: one source a state, every chart fetched once. */
export class RemoteCharts implements AsyncDisposable {
  readonly #open: OpenCharts;
  readonly #variables: Readonly<Record<string, string | undefined>>;
  readonly #sources = new Map<State, Promise<ChartSource & AsyncDisposable>>();
  readonly #charts = new Map<string, Promise<Chart>>();

  constructor(open: OpenCharts, variables: Readonly<Record<string, string | undefined>>) {
    this.#open = open;
    this.#variables = variables;
  }

  async load({ chart, version, state }: HelmfileRelease): Promise<Chart> {
    const key = JSON.stringify([state.file, chart, version]);
    let loading = this.#charts.get(key);
    if (!loading) this.#charts.set(key, (loading = this.#load(referenceTo(chart, version), state)));
    return await loading;
  }

  async #load(reference: ChartReference, state: State): Promise<Chart> {
    let source = this.#sources.get(state);
    if (!source) this.#sources.set(state, (source = this.#openFor(state)));
    return await loadChart((await (await source).pull(reference)).archive);
  }

  async #openFor(state: State): Promise<ChartSource & AsyncDisposable> {
    const specs = specsOf(state.spec, 'repositories');
    return await this.#open(await Promise.all(specs.map(async (spec) => await this.#repository(spec, state))));
  }

  async #repository(spec: Spec, state: State): Promise<ConfiguredRepository> {
    const name = textOf(spec, 'name');
    const variable = name.toUpperCase().replaceAll('-', '_');
    const username = textOf(spec, 'username') || this.#variables[`${variable}_USERNAME`] || '';
    const password = textOf(spec, 'password') || this.#variables[`${variable}_PASSWORD`] || '';
    const tls = await readTls(spec, state);
    const url = textOf(spec, 'url');
    return {
      name,
      url: flagOf(spec, 'oci') ? `oci://${url.replace(/^oci:\/\//, '')}` : url,
      trustOthers: flagOf(spec, 'passCredentials') ?? false,
      ...(username === '' && password === '' ? {} : { credentials: { username, password } }),
      ...(tls ? { tls } : {}),
      ...(flagOf(spec, 'plainHttp') ? { plainHttp: true } : {}),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const sources = await Promise.allSettled(this.#sources.values());
    for (const source of sources) if (source.status === 'fulfilled') await source.value[Symbol.asyncDispose]();
  }
}

/** `version: 1.0.0@sha256:…` pins a chart of a registry. */
function referenceTo(chart: string, version: string): ChartReference {
  const at = version.indexOf('@');
  if (at < 0) return { chart, version };
  return isOci(chart) ? { chart: `${chart}${version.slice(at)}` } : { chart, version: version.slice(0, at) };
}

async function readTls(spec: Spec, { file, directory }: State): Promise<TlsSettings | undefined> {
  const read = async (key: string) => {
    const path = textOf(spec, key);
    if (path === '') return undefined;
    try {
      return await readFile(resolve(directory, path), 'utf8');
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      throw new HelmfileError('NotFound', `${file}: repositories: ${key} ${path} cannot be read (${code})`, { cause });
    }
  };
  const [ca, cert, key] = [await read('caFile'), await read('certFile'), await read('keyFile')];
  const insecureSkipVerify = flagOf(spec, 'skipTLSVerify') ?? false;
  return tlsSettings({ ca, cert, key, insecureSkipVerify });
}
