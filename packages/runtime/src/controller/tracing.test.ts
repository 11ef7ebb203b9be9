import { startCluster } from '@slipway/apiserver';
import { ConfigMap, createClient } from '@slipway/kube';
import { VirtualClock } from '@slipway/testing';
import { type Context, type Span, type SpanOptions, trace, type Tracer } from '@opentelemetry/api';
import { expect, test } from 'vitest';

import { silentLogger } from '../log/logger.ts';
import { startManager } from '../manager/manager.ts';
import { controller } from './controller.ts';
import { requeueAfter } from './result.ts';

interface RecordedSpan {
  name: string;
  id: string;
  parent?: string;
  start: number;
  end?: number;
  failed: boolean;
  attributes: Record<string, unknown>;
}

/** A tracer that remembers its spans: the API package comes without one. */
function recordingTracer(): { tracer: Tracer; spans: RecordedSpan[] } {
  const spans: RecordedSpan[] = [];
  const startSpan = (name: string, options: SpanOptions = {}, parent?: Context): Span => {
    const recorded: RecordedSpan = {
      name,
      id: String(spans.length + 1).padStart(16, '0'),
      parent: parent && !options.root ? trace.getSpanContext(parent)?.spanId : undefined,
      start: Number(options.startTime),
      failed: false,
      attributes: { ...options.attributes },
    };
    spans.push(recorded);
    const span: Partial<Span> = {
      spanContext: () => ({ traceId: '1'.padStart(32, '0'), spanId: recorded.id, traceFlags: 1 }),
      isRecording: () => true,
      setAttribute: (key, value) => ((recorded.attributes[key] = value), span as Span),
      setAttributes: (values) => (Object.assign(recorded.attributes, values), span as Span),
      setStatus: () => ((recorded.failed = true), span as Span),
      end: (time) => void (recorded.end = Number(time)),
    };
    return span as Span;
  };
  return { spans, tracer: { startSpan, startActiveSpan: () => undefined } as unknown as Tracer };
}

test('a trace leads from the watch event over the wait in the queue to the reconciliation and its requests', async () => {
  const clock = new VirtualClock();
  await using cluster = await startCluster({ clock });
  const transport = cluster.transport;
  const client = createClient({ transport, fieldManager: 'test', clock });
  const { tracer, spans } = recordingTracer();
  let runs = 0;
  const traced = controller({
    name: 'traced',
    for: ConfigMap,
    scope: { fieldSelector: 'metadata.name=a' },
    async reconcile({ client: own }, key) {
      runs += 1;
      if (runs === 1) {
        await own.get(ConfigMap, key);
        return requeueAfter(1000);
      }
      await own.update({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'none', namespace: 'default' } });
    },
  });
  await using _manager = await startManager({
    cluster: { transport },
    controllers: [traced],
    clock,
    log: silentLogger,
    tracer,
  });
  await clock.advance(1000);
  await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } });
  await clock.advance(10);

  const byName = (name: string) => spans.find((span) => span.name === name)!;
  const event = spans.find((span) => span.name === 'watch event' && span.attributes['k8s.object'] === 'default/a')!;
  const reconcile = spans.find((span) => span.name === 'reconcile traced' && span.parent === event.id)!;
  expect(event.parent).toBeUndefined();
  expect(reconcile.attributes).toMatchObject({
    'slipway.result': 'requeue_after',
    'slipway.controller': 'traced',
    'k8s.object': 'default/a',
  });
  expect(byName('queue wait').parent).toBe(reconcile.id);
  expect(byName('get ConfigMap')).toMatchObject({ parent: reconcile.id, failed: false });

  await clock.advance(1000);
  const failed = byName('update ConfigMap');
  expect(failed.failed).toBe(true);
  const second = spans.find((span) => span.id === failed.parent)!;
  expect(second).toMatchObject({ name: 'reconcile traced', failed: true, parent: undefined });
  expect(spans.every((span) => span.end !== undefined && span.end >= span.start)).toBe(true);
});
