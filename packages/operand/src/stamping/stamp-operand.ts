import type { Client, DeepReadonly, KubeObject } from '@slipway/kube';

import type { Operand } from '../api.ts';
import { ensureOperand, type OperandSpec } from './ensure-operand.ts';
import { mapStatus, type StampedStatus } from './map-status.ts';

export interface StampOptions<T> {
  readonly client: Client;
  /** The object that is turned into an Operand. */
  readonly stamper: T;
  /** Name of the Operand. */
  readonly name: string;
  /** What shall be on the cluster for this object. */
  readonly calculate: (stamper: T) => OperandSpec | Promise<OperandSpec>;
  /** Who owns the Operand's fields; the name of the stamping operator. */
  readonly fieldManager: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface Stamped extends StampedStatus {
  readonly operand: Operand;
}

/** One pass of a stamping operator: calculate what shall be there, ensure the Operand, say how it is doing. */
export async function stampOperand<T extends DeepReadonly<KubeObject>>(options: StampOptions<T>): Promise<Stamped> {
  const { calculate, stamper, ...rest } = options;
  const { name = '', namespace } = stamper.metadata;
  const spec = await calculate(stamper);
  const operand = await ensureOperand({ ...rest, spec, stamper: namespace ? { namespace, name } : { name } });
  return { operand, ...mapStatus(operand) };
}
