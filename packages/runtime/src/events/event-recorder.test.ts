import { type Cluster as TestCluster, startCluster } from '@slipway/apiserver';
import { type Client, type ConfigMap, createClient, Event, systemRandom } from '@slipway/kube';
import { VirtualClock } from '@slipway/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { memoryLogger } from '../log/logger.ts';
import { EventSink } from './event-recorder.ts';

describe('EventSink', () => {
  let clock: VirtualClock;
  let cluster: TestCluster;
  let client: Client;
  let log: ReturnType<typeof memoryLogger>;
  let sink: EventSink;
  let object: ConfigMap;

  beforeEach(async () => {
    clock = new VirtualClock();
    cluster = await startCluster({ clock });
    client = createClient({ transport: cluster.transport, fieldManager: 'test', clock });
    log = memoryLogger();
    sink = new EventSink({ client, clock, random: systemRandom, log });
    object = await client.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', namespace: 'default' },
    });
  });

  afterEach(async () => {
    await sink.close();
    await cluster.stop();
  });

  const stored = async () =>
    (await Array.fromAsync(client.list(Event, { namespace: 'default' }))).filter(
      ({ reportingController }) => reportingController === 'c',
    );

  test('an event names its object, reporter, reason and time', async () => {
    sink.recorder('c').normal(object, 'Created', 'it is there', { action: 'Create', related: object });
    await sink.flush();
    const { name: _name, namespace: _namespace, uid, resourceVersion } = object.metadata;
    expect(await stored()).toEqual([
      expect.objectContaining({
        type: 'Normal',
        reason: 'Created',
        action: 'Create',
        note: 'it is there',
        eventTime: '2026-01-01T00:00:00.000000Z',
        regarding: { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'default', uid, resourceVersion },
        related: expect.objectContaining({ name: 'a' }),
        reportingInstance: 'slipway',
      }),
    ]);
  });

  test('repetitions are one event with a count, written together', async () => {
    const recorder = sink.recorder('c');
    let writes = 0;
    cluster.intercept((request, phase) => {
      if (phase === 'before' && request.resource?.plural === 'events') writes += 1;
    });
    for (let index = 0; index < 100; index += 1) recorder.warning(object, 'Waiting', 'for better weather');
    await clock.advance(5000);
    expect(writes).toBe(2);
    expect((await stored()).map(({ series }) => series?.count)).toEqual([100]);
  });

  test('after six quiet minutes a repetition is a new event', async () => {
    const recorder = sink.recorder('c');
    recorder.normal(object, 'Waiting', 'x');
    await clock.advance(361_000);
    recorder.normal(object, 'Waiting', 'x');
    await sink.flush();
    expect(await stored()).toHaveLength(2);
  });

  test('a series whose event has expired goes on under a new one', async () => {
    const recorder = sink.recorder('c');
    recorder.normal(object, 'Waiting', 'x');
    await sink.flush();
    const [first] = await stored();
    await client.delete(Event, { namespace: 'default', name: first!.metadata.name! });
    recorder.normal(object, 'Waiting', 'x');
    await sink.flush();
    const [second] = await stored();
    expect(second?.series?.count).toBe(2);
    expect(second?.metadata.name).not.toBe(first?.metadata.name);
  });

  test('an object that cannot stop talking is cut short', async () => {
    const recorder = sink.recorder('c');
    for (let index = 0; index < 100; index += 1) recorder.normal(object, 'Chatter', `message ${index}`);
    await sink.flush();
    expect(await stored()).toHaveLength(25);
    await clock.advance(300_000);
    recorder.normal(object, 'Chatter', 'later');
    await sink.flush();
    expect(await stored()).toHaveLength(26);
  });

  test('what the server refuses is logged and nothing else happens', async () => {
    cluster.faults.add({ match: { resource: 'events', verb: 'create' }, action: { type: 'error', status: 403 } });
    sink.recorder('c').normal(object, 'Created', 'x');
    await sink.flush();
    expect(log.entries.map(({ level, message }) => [level, message])).toEqual([['warn', 'could not write an event']]);
  });

  test('texts are cut to what the server takes', async () => {
    sink.recorder('c').normal(object, 'R'.repeat(200), 'n'.repeat(2000));
    await sink.flush();
    const [event] = await stored();
    expect([event?.reason?.length, event?.note?.length]).toEqual([128, 1024]);
  });

  test('close writes what is left and takes no more', async () => {
    const recorder = sink.recorder('c');
    recorder.normal(object, 'Last', 'words');
    recorder.normal(object, 'Last', 'words');
    await sink.close();
    recorder.normal(object, 'Too', 'late');
    await sink.flush();
    expect((await stored()).map(({ reason, series }) => [reason, series?.count])).toEqual([['Last', 2]]);
  });
});
