export {
  type CreationRule,
  creationRuleFor,
  type CreationRuleOptions,
  findConfigFile,
  indentOf,
} from './config-file.ts';
export { type FormatName, formatOfPath } from './formats/format.ts';
export { generateAgeKey, recipientOf } from './keys/age-keys.ts';
export { findAgeIdentities, identitiesIn, type KeyLookupOptions } from './keys/key-lookup.ts';
export type { Metadata, WrappedKey } from './metadata.ts';
export { decryptFile, type DecryptFileOptions } from './decrypt-file.ts';
export type { SelectionRule } from './selection.ts';
export { SopsError, type SopsErrorCode } from './sops-error.ts';
export {
  type ChangeOptions,
  decrypt,
  type DecryptOptions,
  describe,
  edit,
  encrypt,
  type EncryptOptions,
  isEncrypted,
  type LayoutOptions,
  type OutputOptions,
  rotate,
  setValue,
  unsetValue,
  updateKeys,
} from './sops-file.ts';
export { parseTreePath, type TreePath } from './tree-path.ts';
