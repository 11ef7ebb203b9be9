export { BtpOperator, ServiceBinding, ServiceInstance, type State } from './api.ts';
export { btpOperatorController, type BtpManagerOptions } from './btp-operator/controller.ts';
export { btpManager } from './operator.ts';
export { permissionsFor, permissionsForFolder } from './permissions-for.ts';
export { reasons, type Reason, type ReasonRow } from './reasons.ts';
export { manifestsDir } from './manifests-dir.ts';
export { settingRows, settingsFromFlags, withConfigMap, type Settings } from './settings/settings.ts';
