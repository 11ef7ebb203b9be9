import type { Kind, ObjectKey } from '@slipway/kube';
import { onReference, skipped } from '@slipway/testing';
import { expect, test } from 'vitest';

import { ManagedControlPlane } from '../src/api/managed-control-plane.ts';
import { ControlPlane } from '../src/cloud-orchestrator/hand-off.ts';
import { LandscaperDeployment, LandscaperV2 } from '../src/landscaper/kinds.ts';
import { names } from '../src/names.ts';
import { key, Landscape, mcp } from './landscape.ts';

const second = { labels: { [`landscaper.${names.architectureLabel}`]: 'v2' } };

const cases: [Kind, ObjectKey, string, object][] = [
  [ControlPlane, { name: 'team--demo' }, 'CloudOrchestratorHealthy', {}],
  [LandscaperDeployment, key, 'LandscaperHealthy', {}],
  [LandscaperV2, key, 'LandscaperHealthy', second],
];
const embeddedOnly = skipped(
  onReference,
  'on the real API server: a ControlPlane that is deleted between two looks, whose time passes only on virtual time',
);

test.each(cases)(
  'a $kind that breaks after it was ready shows on the ManagedControlPlane',
  async (kind, handed, type, metadata) => {
    await using landscape = await Landscape.open();
    const { cluster } = landscape;
    const object = mcp();
    await cluster.client.create({ ...object, metadata: { ...object.metadata, ...metadata } });
    await landscape.run();
    await landscape.ready();

    const happens = async (trouble: boolean): Promise<void> => {
      landscape.trouble = trouble;
      const body = { metadata: { annotations: { 'example.com/trouble': String(trouble) } } };
      await cluster.client.patch(kind, handed, { type: 'merge', body });
    };
    const health = async (): Promise<string | undefined> => {
      const { status } = (await cluster.client.get(ManagedControlPlane, key))!;
      return status?.conditions?.find((condition) => condition.type === type)?.status;
    };
    await happens(true);
    await cluster.eventually('it shows', async () => (await health()) === 'False');
    await happens(false);
    await cluster.eventually('its end shows too', async () => (await health()) === 'True');
    await landscape.ready();
  },
);

test.skipIf(embeddedOnly)('a ControlPlane somebody deletes is made again', async () => {
  await using landscape = await Landscape.open();
  const { cluster } = landscape;
  await cluster.client.create(mcp());
  await landscape.run();
  await landscape.ready();
  const { uid } = (await cluster.client.get(ControlPlane, { name: 'team--demo' }))!.metadata;
  // Two looks: the first sees it, the second that it is gone.
  await cluster.advance(40_000);
  await cluster.client.delete(ControlPlane, { name: 'team--demo' });
  const again = await cluster.eventually('another is there', async () => {
    return await cluster.client.get(ControlPlane, { name: 'team--demo' });
  });
  expect(again.metadata.uid).not.toBe(uid);
  await landscape.ready();
});
