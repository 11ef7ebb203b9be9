import type { Json, JsonObject } from '../object.ts';
import type { Admission } from './admission.ts';

/** A certificate signing request says who made it, whatever its maker writes: signers and approvers decide by that. */
export function signingRequestUser(): Admission {
  return {
    mutate({ operation, resource, subresource, object, user }) {
      const isNew = operation === 'CREATE' && subresource === '' && resource.plural === 'certificatesigningrequests';
      if (!isNew || !object) return;
      const { username: _name, uid: _uid, groups: _groups, extra: _extra, ...spec } = object['spec'] as JsonObject;
      object['spec'] = {
        ...spec,
        username: user.name,
        groups: [...user.groups],
        ...(user.uid ? { uid: user.uid } : {}),
        ...(user.extra ? { extra: user.extra as unknown as Json } : {}),
      };
    },
    validate() {},
  };
}
