export * from './api.ts';
export { activeOperandName, liveRefs, mergedManifest, type LiveRef } from './live-refs.ts';
export { names } from './names.ts';
export { operandController } from './operand/controller.ts';
export { activeOperandControllers } from './active/controllers.ts';
export type { OperandSettings } from './operand/reconcile.ts';
export { operandOperator } from './operator.ts';
export {
  ensureOperand,
  removeOperand,
  type EnsureOperandOptions,
  type OperandSpec,
} from './stamping/ensure-operand.ts';
export { mapStatus, type StampedStatus } from './stamping/map-status.ts';
export { stampOperand, type Stamped, type StampOptions } from './stamping/stamp-operand.ts';
export { stamperMarks, stamperOf, wakeStamper } from './stamping/stamper.ts';
