import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ConfigMap, type KubeObject, type ObjectKey, systemClock, systemRandom } from '@slipway/kube';
import { skipped } from '@slipway/testing';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { ProvidedApiServer } from '../src/api-server/provider.ts';
import { eraseAll } from '../src/api-server/providers/cluster-process.ts';
import { embeddedProvider } from '../src/api-server/providers/embedded.ts';
import type { ComponentContext } from '../src/component/define-component.ts';
import { controlPlaneOperator } from '../src/operator.ts';
import { Targets } from '../src/target/target.ts';

const leftOut = skipped(
  process.env['SLIPWAY_CLUSTER'] !== 'reference' && process.env['SLIPWAY_SWEEP'] !== 'full',
  'embedded API servers as processes: they take seconds to start (npm run test:reference or SLIPWAY_SWEEP=full)',
);

const main = join(import.meta.dirname, '..', '..', 'cli', 'src', 'main.ts');
let folder: string;
let targets: Targets;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'embedded-'));
  targets = new Targets();
});
afterEach(async () => {
  await targets[Symbol.asyncDispose]();
  await eraseAll(folder, systemClock);
});
afterAll(async () => await rm(folder, { recursive: true, force: true }));

/** An operator, as far as the provider sees one. Another one knows nothing of what this one did. */
class Operator {
  readonly #provider = embeddedProvider({
    dataDir: folder,
    command: [process.execPath, main],
    connect: targets.connect,
  });

  async ensure(key: ObjectKey): Promise<ProvidedApiServer & { ready: true }> {
    const context = { key, log: { info: () => undefined } } as unknown as ComponentContext<'APIServer'>;
    for (let round = 0; round < 300; round += 1) {
      const provided = await this.#provider.ensure(context);
      if (provided.ready) return provided;
      await wait(100);
    }
    throw new Error('the embedded API server did not start');
  }

  async remove(key: ObjectKey): Promise<void> {
    const context = { key } as unknown as ComponentContext<'APIServer'>;
    for (let round = 0; round < 300; round += 1) {
      if ((await this.#provider.remove(context)) === undefined) return;
      await wait(100);
    }
    throw new Error('the embedded API server did not end');
  }
}

const key = { namespace: 'default', name: 'demo' };
const place = (of: ObjectKey) => join(folder, of.namespace ?? '', of.name);
const pidOf = async (of: ObjectKey) => Number(await readFile(join(place(of), 'pid'), 'utf8'));
const note: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name: 'note' },
  data: { word: 'kept' },
};

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function clientOf({ bootstrapKubeconfig }: ProvidedApiServer & { ready: true }) {
  return (await targets.connect(bootstrapKubeconfig)).client;
}

describe.skipIf(leftOut)('an embedded API server', { timeout: 300_000 }, () => {
  test('outlives an operator that is killed, and the next one finds it', async () => {
    const script = join(import.meta.dirname, 'embedded-operator.ts');
    const operator = spawn(process.execPath, [script, folder, main, key.name], {
      stdio: ['ignore', 'pipe', 'inherit'],
      // As npx starts it: a command of ours then ends when its parent does, but this one must not.
      env: { ...process.env, npm_lifecycle_event: 'npx' },
    });
    await once(operator.stdout, 'data');
    const [pid, kubeconfig] = [await pidOf(key), await readFile(join(place(key), 'kubeconfig'), 'utf8')];
    operator.kill('SIGKILL');
    await once(operator, 'exit');
    // Twice as long as such a command takes to notice.
    await wait(1_000);
    const found = await new Operator().ensure(key);
    expect(found.bootstrapKubeconfig).toBe(kubeconfig);
    expect(await pidOf(key)).toBe(pid);
  });

  test('that dies comes back at the same address with everything it held', async () => {
    const first = await new Operator().ensure(key);
    await (await clientOf(first)).create(note);
    const pid = await pidOf(key);
    process.kill(pid, 'SIGKILL');
    while (isAlive(pid)) await wait(20);
    const second = await new Operator().ensure(key);
    expect(await pidOf(key)).not.toBe(pid);
    expect(second.bootstrapKubeconfig).toBe(first.bootstrapKubeconfig);
    expect((await (await clientOf(second)).get(ConfigMap, note.metadata as ObjectKey))?.data).toEqual({ word: 'kept' });
  });

  test('ends with the try-out it belongs to, and comes back with the next one on the same data', async () => {
    const first = await new Operator().ensure(key);
    await (await clientOf(first)).create(note);
    const pid = await pidOf(key);
    const tryOut = await controlPlaneOperator.startExample!({
      clock: systemClock,
      random: systemRandom,
      say: () => undefined,
      folder,
    });
    await tryOut[Symbol.asyncDispose]();
    // It has ended; that its number is free again takes the system a moment.
    while (isAlive(pid)) await wait(20);
    const second = await new Operator().ensure(key);
    expect((await (await clientOf(second)).get(ConfigMap, note.metadata as ObjectKey))?.data).toEqual({ word: 'kept' });
  });

  test('goes with its data, and nobody else does', async () => {
    const other = { namespace: 'default', name: 'other' };
    const operator = new Operator();
    await Promise.all([operator.ensure(key), operator.ensure(other)]);
    const pid = await pidOf(key);
    await operator.remove(key);
    expect(isAlive(pid)).toBe(false);
    await expect(access(place(key))).rejects.toThrow('ENOENT');
    expect(isAlive(await pidOf(other))).toBe(true);
    // Nothing is left to remove, which is as good.
    await operator.remove(key);
  });

  test('whose number belongs to another program now is started again, and that program is left alone', async () => {
    const operator = new Operator();
    await operator.ensure(key);
    const pid = await pidOf(key);
    process.kill(pid, 'SIGKILL');
    while (isAlive(pid)) await wait(20);
    const bystander = execFile('sleep', ['60']);
    await promisify(execFile)('sh', ['-c', `printf %s ${bystander.pid} > '${join(place(key), 'pid')}'`]);
    try {
      await operator.ensure(key);
      expect(await pidOf(key)).not.toBe(bystander.pid);
      expect(isAlive(bystander.pid!)).toBe(true);
    } finally {
      bystander.kill('SIGKILL');
    }
  });
});
