export { checkContract, type ContractCheck, contractChecks } from './contract-checks.ts';
export { ContractStage, type ContractSubject } from './contract-stage.ts';
export {
  canary,
  serverUrl,
  targetSecret,
  TargetStandIn,
  targetStatus,
  targetSubject,
  type TargetSubjectParts,
  warmTokens,
  watchable,
} from './target-subject.ts';
