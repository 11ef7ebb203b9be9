import { kubeTime } from '../../clock.ts';
import type { ApiObject } from '../../object.ts';
import type { ControllerContext } from '../controller.ts';

export interface EventRecorder {
  /** Records that something happened to `object`; never fails. */
  event(object: ApiObject, type: 'Normal' | 'Warning', reason: string, message: string): void;
}

interface Series {
  readonly name: string;
  readonly namespace: string;
  count: number;
}

const REMEMBERED = 1_000;
let serial = 0;

/** Writes core/v1 Events in the name of a component; the same news about the same object counts up instead of repeating. */
export function eventRecorder(context: ControllerContext, component: string): EventRecorder {
  const { client, clock, log } = context;
  const known = new Map<string, Series>();
  let last: Promise<unknown> = Promise.resolve();

  async function write(object: ApiObject, type: string, reason: string, message: string, now: number): Promise<void> {
    const key = `${object.metadata.uid} ${type} ${reason} ${message}`;
    const address = { group: '', version: 'v1', plural: 'events' };
    const series = known.get(key);
    if (series) {
      series.count += 1;
      await client.patch({ ...address, namespace: series.namespace, name: series.name }, 'merge', {
        count: series.count,
        lastTimestamp: kubeTime(now),
      });
      return;
    }
    const namespace = object.metadata.namespace ?? 'default';
    serial += 1;
    // Nanoseconds in hexadecimal, as real recorders name them; the serial stands for the part below a millisecond.
    const suffix = (BigInt(now) * 1_000_000n + BigInt(serial % 1_000_000)).toString(16);
    const name = `${object.metadata.name}.${suffix}`;
    known.set(key, { name, namespace, count: 1 });
    if (known.size > REMEMBERED) {
      known.delete(known.keys().next().value!);
    }
    await client.create(
      { ...address, namespace },
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name, namespace },
        involvedObject: {
          kind: object.kind,
          namespace: object.metadata.namespace,
          name: object.metadata.name,
          uid: object.metadata.uid,
          apiVersion: object.apiVersion,
          resourceVersion: object.metadata.resourceVersion,
        },
        reason,
        message,
        source: { component },
        firstTimestamp: kubeTime(now),
        lastTimestamp: kubeTime(now),
        count: 1,
        type,
        reportingComponent: component,
      },
    );
  }

  return {
    event(object, type, reason, message) {
      const now = clock.now();
      last = last
        .then(() => write(object, type, reason, message, now))
        // A terminating namespace takes no events; nothing depends on them.
        .catch((error: unknown) => log(`${component}: event ${reason} not written: ${String(error)}`));
    },
  };
}
