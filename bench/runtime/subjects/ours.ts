/** The measured controller on `@slipway/runtime`. `bench/peers/controller-runtime/main.go` is the same in Go. */
import { ConfigMap, Conditions, defineKind, Pod, Type } from '@slipway/kube';
import { controller, createLogger, generationChanged, startManager } from '@slipway/runtime';

import { revisionAnnotation } from '../templates.ts';
import { LoopDelay } from './loop-delay.ts';
import { say, subjectSettings } from './settings.ts';

const Website = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Website',
  scope: 'Namespaced',
  spec: Type.Object({ revision: Type.String() }),
  status: Type.Object({ message: Type.Optional(Type.String()), conditions: Type.Optional(Conditions) }),
});

const { url, ca, kind, objects } = subjectSettings();
let reconciles = 0;

const loopDelay = new LoopDelay();

const website = controller({
  name: 'bench',
  for: Website,
  owns: [ConfigMap],
  predicates: [generationChanged],
  async reconcile({ cache, client }, key) {
    counted();
    const site = await cache.get(Website, key);
    if (!site || site.spec.revision === site.status?.message) return;
    await client.patch(
      Website,
      key,
      { type: 'merge', body: { status: { message: site.spec.revision } } },
      { subresource: 'status' },
    );
  },
});

const pod = controller({
  name: 'bench',
  for: Pod,
  owns: [ConfigMap],
  async reconcile({ cache, client }, key) {
    counted();
    const found = await cache.get(Pod, key);
    const revision = found?.metadata.annotations?.[revisionAnnotation];
    if (!found || revision === found.status?.message) return;
    await client.patch(Pod, key, { type: 'merge', body: { status: { message: revision } } }, { subresource: 'status' });
  },
});

function counted(): void {
  reconciles += 1;
  if (reconciles === objects) say('reconciled');
}

const manager = await startManager({
  controllers: [kind === 'website' ? website : pod],
  cluster: { connection: { server: url, tls: { ca } } },
  log: createLogger({ level: 'error' }),
  signals: true,
});
loopDelay.start();
await manager.ready;
say('synced', { delayMs: await loopDelay.longestMs() });
await manager.stopped;
say('end', { reconciles });
