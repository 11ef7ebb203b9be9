export * from './api.ts';
export { activeOperandName, liveRefs, mergedManifest, type LiveRef } from './live-refs.ts';
export { names } from './names.ts';
export { operandController } from './operand/controller.ts';
export { activeOperandControllers } from './active/controllers.ts';
export type { OperandSettings } from './operand/reconcile.ts';
export { operandOperator } from './operator.ts';
