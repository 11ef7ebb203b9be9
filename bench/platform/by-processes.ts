import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { applicationOf } from '../../packages/app-platform/src/platform/applications.ts';
import type { Platform } from '../../packages/app-platform/src/platform/platform.ts';
import { yamlFile } from '../../packages/app-platform/src/values/yaml-file.ts';
import type { BenchWorld } from './world.ts';

const run = promisify(execFile);

export interface Programs {
  readonly helm: string;
  readonly helmfile: string;
  readonly kubectl: string;
  readonly sops: string;
}

interface Listed {
  readonly name: string;
  readonly namespace: string;
  readonly installed: boolean;
  readonly chart: string;
}

/**
 * The steps of an apply as a script does them, with a program for each: sops for every secret file, helmfile for values, lists and
 * manifests (helm behind it), kubectl for what goes to the cluster, git for the repository.
 */
export class ByProcesses {
  readonly #world: BenchWorld;
  readonly #programs: Programs;
  readonly #scratch: string;
  readonly #platform: Platform;
  /** How many programs were started, without those they start themselves and without git. */
  started = 0;

  constructor(world: BenchWorld, programs: Programs) {
    this.#world = world;
    this.#programs = programs;
    this.#platform = world.platform();
    this.#scratch = join(world.folder, 'scratch');
  }

  /** Every secret file by sops, then the layers by `helmfile build`. */
  async loadValues(): Promise<void> {
    await mkdir(this.#scratch, { recursive: true });
    const files = await readdir(join(this.#platform.directory, 'env'), { recursive: true });
    for (const file of files.filter((name) => /(^|\/)secrets\.[^/]*\.yaml$/.test(name)))
      await this.#run('sops', ['-d', join(this.#platform.directory, 'env', file)]);
    await this.#dump();
  }

  async fullApply(): Promise<void> {
    await this.loadValues();
    // Defaults and files are dumps of their own.
    await this.#dump();
    await this.#dump();
    await this.#commit();
    await this.#essential();
    await this.#applications();
    await this.#dump();
    await this.#commit();
    await this.#state(4);
  }

  async teamsOnlyApply(): Promise<void> {
    const before = await this.#git('rev-parse', 'HEAD');
    await this.#git('clean', '--quiet', '-ff', '-d', '-x');
    await this.#fetch();
    await this.#git('checkout', '--quiet', '--force', '-B', 'main', 'origin/main');
    const after = await this.#git('rev-parse', 'HEAD');
    await this.#git('log', '--format=%s', `${before}...${after}`, '--');
    await this.#git('diff', '--name-only', `${before}..${after}`, '--');
    await this.loadValues();
    await this.#dump();
    await this.#dump();
    await this.#commit();
    await this.#essential();
    await this.#applications('pipeline=otomi-task-teams');
    await this.#state(2);
  }

  /** As the poll loop of a script has it: clean, fetch, log. */
  async idlePoll(): Promise<void> {
    await this.#git('clean', '--quiet', '-f', '-X');
    await this.#fetch();
    await this.#git('log', '-1', '--format=%H', 'origin/main');
  }

  async #dump(): Promise<void> {
    // What the files say is one tree for helmfile to read; making it is not timed against it.
    this.#values ??= yamlFile(await this.#platform.layers.values('all'));
    await writeFile(join(this.#scratch, 'values.yaml'), this.#values);
    const dump =
      'environments:\n  default:\n    values: [values.yaml]\n---\nreleases: [{ name: none, chart: ./none, installed: false }]\n';
    await writeFile(join(this.#scratch, 'helmfile-dump.yaml.gotmpl'), dump);
    await this.#run('helmfile', ['-f', 'helmfile-dump.yaml.gotmpl', 'build'], this.#scratch);
  }
  #values: string | undefined;

  async #essential(): Promise<void> {
    const manifests = await this.#helmfile(
      ['-f', 'helmfile.tpl/helmfile-init.yaml.gotmpl', '-l', 'team=true'],
      ['template', '--skip-deps'],
    );
    const file = join(this.#scratch, 'essential.yaml');
    await writeFile(file, manifests);
    await this.#kubectl(['apply', '--server-side', '--force-conflicts', '-f', file]);
  }

  async #applications(selector?: string): Promise<void> {
    const where = ['-f', 'helmfile.d', ...(selector ? ['-l', selector] : [])];
    const listed = JSON.parse(await this.#helmfile(where, ['list', '--output', 'json'])) as Listed[];
    const values = join(this.#scratch, 'values');
    const template = `${values}/{{ .Release.Namespace }}-{{ .Release.Name }}.yaml`;
    await this.#helmfile(where, ['write-values', '--output-file-template', template]);
    const apps = join(this.#scratch, 'apps.yaml');
    const texts = await Promise.all(
      listed.map(async (release) => {
        const text = await readFile(join(values, `${release.namespace}-${release.name}.yaml`), 'utf8').catch(() => '');
        return yamlFile(applicationOf(release, text, 'https://example.com/charts.git', 'v1.0.0') as never);
      }),
    );
    await writeFile(apps, texts.join('---\n'));
    await this.#kubectl(['apply', '--server-side', '--force-conflicts', '-f', apps]);
  }

  async #commit(): Promise<void> {
    await this.#git('add', '--all');
    if ((await this.#git('status', '--porcelain')) === '') return;
    await this.#git('commit', '--quiet', '-m', 'updated values [ci skip]');
    await this.#world.copy.atRemote(['push', '--quiet', 'origin', 'main']);
  }

  async #fetch(): Promise<void> {
    await this.#world.copy.atRemote(['fetch', '--quiet', 'origin', '+refs/heads/main:refs/remotes/origin/main']);
  }

  async #git(...args: readonly string[]): Promise<string> {
    return (await this.#world.copy.git(args)).stdout.trim();
  }

  async #state(writes: number): Promise<void> {
    const patch = JSON.stringify({ data: { checked: 'true' } });
    for (let write = 0; write < writes; write += 1)
      await this.#kubectl(['-n', 'otomi', 'patch', 'configmap', 'deployment-status', '--type', 'merge', '-p', patch]);
  }

  async #helmfile(global: readonly string[], command: readonly string[]): Promise<string> {
    const { root } = this.#platform;
    const values = ['--state-values-file', join(this.#scratch, 'values.yaml')];
    return await this.#run(
      'helmfile',
      ['--helm-binary', this.#programs.helm, '-q', ...values, ...global, ...command],
      root.directory,
    );
  }

  async #kubectl(args: readonly string[]): Promise<void> {
    await this.#run('kubectl', ['--kubeconfig', this.#world.kubeconfig, ...args]);
  }

  async #run(program: keyof Programs, args: readonly string[], cwd = this.#world.folder): Promise<string> {
    this.started += 1;
    const { stdout } = await run(this.#programs[program], [...args], {
      cwd,
      maxBuffer: 1 << 30,
      env: {
        ...process.env,
        HOME: this.#world.folder,
        PATH: `${dirname(this.#programs.helm)}${delimiter}${process.env['PATH']}`,
        SOPS_AGE_KEY: [...this.#platform.keys].join('\n'),
      },
    });
    return stdout;
  }
}
