import { ApiError } from '../api-error.ts';
import type { RequestAttributes } from '../auth/auth.ts';

export function unauthorized(): ApiError {
  return new ApiError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' });
}

/** What an authorizer's no looks like. */
export function forbiddenAnswer(attributes: RequestAttributes, reason?: string): ApiError {
  const { resource, user, verb, path } = attributes;
  const because = reason ? `: ${reason}` : '';
  if (!resource) {
    return new ApiError({
      code: 403,
      reason: 'Forbidden',
      message: `forbidden: User ${JSON.stringify(user.name)} cannot ${verb} path ${JSON.stringify(path)}${because}`,
      details: {},
    });
  }
  const { group, plural, subresource, namespace, name } = resource;
  const full = subresource ? `${plural}/${subresource}` : plural;
  const where = namespace ? `in the namespace ${JSON.stringify(namespace)}` : 'at the cluster scope';
  const qualified = group ? `${plural}.${group}` : plural;
  const subject = name ? `${qualified} ${JSON.stringify(name)}` : qualified;
  return new ApiError({
    code: 403,
    reason: 'Forbidden',
    message: `${subject} is forbidden: User ${JSON.stringify(user.name)} cannot ${verb} resource ${JSON.stringify(full)} in API group ${JSON.stringify(group)} ${where}${because}`,
    details: { ...(name ? { name } : {}), ...(group ? { group } : {}), kind: plural },
  });
}
