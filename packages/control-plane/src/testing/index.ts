export { checkContract, type ContractCheck, contractChecks } from './contract-checks.ts';
export { ContractStage, type ContractSubject } from './contract-stage.ts';
