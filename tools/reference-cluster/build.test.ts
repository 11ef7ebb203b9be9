import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { binaryDirectory, ensureReferenceBinaries } from './build.ts';
import type { ComponentName } from './components.ts';

const everything: readonly ComponentName[] = ['etcd', 'kube-apiserver', 'kubectl', 'kube-controller-manager', 'helm'];

let dir: string;
let env: NodeJS.ProcessEnv;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'slipway-build-test-'));
  await mkdir(join(dir, 'path'));
  env = { SLIPWAY_CACHE_DIR: join(dir, 'cache'), PATH: join(dir, 'path') };
});

afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

async function putExecutables(folder: string, names: readonly string[], script = '#!/bin/sh\n'): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const name of names) await writeFile(join(folder, name), script, { mode: 0o755 });
}

/** A `go` that writes the name of the package as the binary; `before` runs first in every build. */
async function putFakeGo(before = ''): Promise<void> {
  await putExecutables(
    join(dir, 'path'),
    ['go'],
    `#!/bin/sh
[ "$1" = env ] && { echo go1.26.0; exit 0; }
${before}
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
echo "$1" >> "${dir}/builds"
echo "$1" > "$out"
PATH=/bin:/usr/bin chmod +x "$out"
`,
  );
}

describe('KUBEBUILDER_ASSETS', () => {
  it('comes before the cache', async () => {
    const assets = join(dir, 'assets');
    await putExecutables(assets, ['etcd', 'kube-apiserver', 'kubectl', 'kube-controller-manager']);
    await putExecutables(binaryDirectory(env), everything);
    const found = await ensureReferenceBinaries({ env: { ...env, KUBEBUILDER_ASSETS: assets } });
    expect(found).toMatchObject({
      available: true,
      source: 'assets',
      dir: assets,
      kubeApiserver: join(assets, 'kube-apiserver'),
      kubeControllerManager: join(assets, 'kube-controller-manager'),
      helm: join(binaryDirectory(env), 'helm'),
      notes: [],
    });
  });

  it('says which binary it lacks instead of falling back to something else', async () => {
    const assets = join(dir, 'assets');
    await putExecutables(assets, ['kube-apiserver', 'kubectl']);
    await putExecutables(binaryDirectory(env), everything);
    const found = await ensureReferenceBinaries({ env: { ...env, KUBEBUILDER_ASSETS: assets } });
    expect(found).toEqual({
      available: false,
      reason: `KUBEBUILDER_ASSETS is set to ${assets}, which has no executable etcd`,
    });
  });

  it('may lack kube-controller-manager, which is said and not taken from another release', async () => {
    const assets = join(dir, 'assets');
    await putExecutables(assets, ['etcd', 'kube-apiserver', 'kubectl']);
    await putExecutables(binaryDirectory(env), everything);
    const found = await ensureReferenceBinaries({ env: { ...env, KUBEBUILDER_ASSETS: assets } });
    expect(found).toMatchObject({
      available: true,
      kubeControllerManager: undefined,
      notes: ['KUBEBUILDER_ASSETS has no kube-controller-manager: controllers cannot be started'],
    });
  });

  it('gives a cluster without helm when helm can neither be found nor built', async () => {
    const assets = join(dir, 'assets');
    await putExecutables(assets, ['etcd', 'kube-apiserver', 'kubectl', 'kube-controller-manager']);
    const found = await ensureReferenceBinaries({ env: { ...env, KUBEBUILDER_ASSETS: assets } });
    expect(found).toMatchObject({ available: true, helm: undefined });
    expect(found.available && found.notes.join()).toMatch(/^no helm: .*no go on the PATH/);
  });
});

describe('the cache', () => {
  it('serves a machine without Go', async () => {
    await putExecutables(binaryDirectory(env), everything);
    const found = await ensureReferenceBinaries({ env });
    expect(found).toMatchObject({
      available: true,
      source: 'cache',
      dir: binaryDirectory(env),
      etcd: join(binaryDirectory(env), 'etcd'),
    });
  });

  it('does not take a file for a binary that cannot be executed', async () => {
    await putExecutables(binaryDirectory(env), everything);
    await chmod(join(binaryDirectory(env), 'kubectl'), 0o644);
    const found = await ensureReferenceBinaries({ env });
    expect(found).toMatchObject({ available: false, reason: expect.stringMatching(/^kubectl not in the cache/) });
  });

  it('needs only what was asked for, besides what starts a cluster', async () => {
    await putExecutables(binaryDirectory(env), ['etcd', 'kube-apiserver', 'kubectl']);
    expect(await ensureReferenceBinaries({ env, tools: [] })).toMatchObject({ available: true, helm: undefined });
    expect(await ensureReferenceBinaries({ env, tools: ['helm'] })).toMatchObject({ available: false });
  });
});

describe('building', () => {
  it('is refused in clear words when there is no Go', async () => {
    const found = await ensureReferenceBinaries({ env, tools: [] });
    expect(found).toEqual({
      available: false,
      reason:
        'etcd, kube-apiserver, kubectl not in the cache, KUBEBUILDER_ASSETS is not set, and there is no go on the PATH to build with',
    });
  });

  it('hands on what a Go says that is too old', async () => {
    await putExecutables(
      join(dir, 'path'),
      ['go'],
      '#!/bin/sh\necho "go: go.mod requires go >= 1.26.0 (running go 1.20; GOTOOLCHAIN=local)" >&2\nexit 1\n',
    );
    const found = await ensureReferenceBinaries({ env, tools: [] });
    expect(found).toMatchObject({ available: false, reason: expect.stringContaining('requires go >= 1.26.0') });
  });

  it('is not begun when only asked for the state', async () => {
    await putFakeGo();
    const found = await ensureReferenceBinaries({ env, build: false });
    expect(found).toMatchObject({ available: false, reason: expect.stringContaining('npm run reference:build') });
    await expect(readdir(join(dir, 'cache'))).rejects.toThrow('ENOENT');
  });

  it('builds what is missing, once, and leaves nothing unfinished behind', async () => {
    await putFakeGo();
    await putExecutables(binaryDirectory(env), ['etcd']);
    const lines: string[] = [];
    const found = await ensureReferenceBinaries({ env, log: (line) => lines.push(line) });
    expect(found).toMatchObject({ available: true, source: 'built' });
    expect((await readdir(binaryDirectory(env))).sort()).toEqual([...everything].sort());
    expect(lines[0]).toMatch(/^building kube-apiserver v\d+\.\d+\.\d+ …$/);
    expect(lines.at(-1)).toMatch(/^built helm in \d+ s$/);
    expect(await ensureReferenceBinaries({ env })).toMatchObject({ source: 'cache' });
  });

  it('happens once when two ask at the same time', async () => {
    await putFakeGo();
    const both = await Promise.all([ensureReferenceBinaries({ env }), ensureReferenceBinaries({ env })]);
    expect(both).toMatchObject([{ available: true }, { available: true }]);
    const builds = (await readFile(join(dir, 'builds'), 'utf8')).trim().split('\n');
    expect(builds).toHaveLength(everything.length);
  });

  it('throws with the words of the compiler when it fails', async () => {
    await putFakeGo('echo "undefined: somebody" >&2; exit 2');
    await expect(ensureReferenceBinaries({ env, tools: [] })).rejects.toThrow(
      'go could not build etcd (exit code 2):\nundefined: somebody',
    );
    expect(await readdir(binaryDirectory(env))).toEqual([]);
  });
});

it('finds Go on a PATH of several folders', async () => {
  await putFakeGo();
  env['PATH'] = [join(dir, 'nowhere'), join(dir, 'path')].join(delimiter);
  expect(await ensureReferenceBinaries({ env, tools: [] })).toMatchObject({ source: 'built' });
});
