import type { DeepReadonly } from '@slipway/kube';

import type { Operand } from '../api.ts';
import type { LiveRef } from '../live-refs.ts';
import { pack, unpack } from './packed.ts';
import type { OperandReading, StatusWrite } from './run.ts';

/** So many are listed for people to read. More are packed: thousands beside a large manifest do not fit into one object. */
const listed = 200;

/** Members of sets that went before another one took them over. What is not wanted at the promotion is pruned then. */
export function carryOverOf(run: OperandReading): readonly DeepReadonly<LiveRef>[] {
  return carryOverIn(run.operand.status);
}

/** The carry-over a status holds, listed or packed. */
export function carryOverIn(status: DeepReadonly<Operand['status']>): readonly DeepReadonly<LiveRef>[] {
  const { carryOver = [], carryOverPacked } = status ?? {};
  if (carryOverPacked === undefined) return carryOver;
  return unpack(Buffer.from(carryOverPacked, 'base64'), 'status.carryOverPacked') as LiveRef[];
}

/** The fields of status that hold a carry-over. */
export function carryOverFields(refs: readonly LiveRef[]): Pick<StatusWrite, 'carryOver' | 'carryOverPacked'> {
  return refs.length <= listed
    ? { carryOver: [...refs], carryOverPacked: undefined }
    : { carryOver: undefined, carryOverPacked: pack(refs).toString('base64') };
}
