import { readFile } from 'node:fs/promises';

/** One entry of `jwt` in an AuthenticationConfiguration. */
export interface Issuer {
  readonly issuer: {
    readonly url: string;
    readonly audiences: readonly string[];
    readonly certificateAuthority?: string;
  };
  readonly claimMappings: {
    readonly username: { readonly claim: string; readonly prefix?: string };
    readonly groups?: { readonly claim: string; readonly prefix?: string };
  };
  readonly claimValidationRules?: readonly { readonly claim: string; readonly requiredValue: string }[];
}

/** What is wrong with an AuthenticationConfiguration, by file and field. */
export class AuthenticationConfigurationError extends Error {
  constructor(file: string, problem: string, options?: { cause?: unknown }) {
    super(`${file}: ${problem}`, options);
    this.name = 'AuthenticationConfigurationError';
  }
}

type Check = (value: unknown, path: string) => string | undefined;

const text: Check = (value, path) => (typeof value === 'string' ? undefined : `${path} must be a string`);
const filled: Check = (value, path) => (typeof value === 'string' && value ? undefined : `${path} must not be empty`);
const https: Check = (value, path) =>
  typeof value === 'string' && URL.canParse(value) && new URL(value).protocol === 'https:'
    ? undefined
    : `${path} must be an https address`;
const oneOf =
  (...allowed: readonly string[]): Check =>
  (value, path) =>
    allowed.includes(value as string) ? undefined : `${path} must be ${allowed.join(' or ')}`;

function list(item: Check, least = 0): Check {
  return (value, path) => {
    if (!Array.isArray(value) || value.length < least)
      return `${path} must be a list${least > 0 ? ' with an entry' : ''}`;
    return firstProblem(value.map((entry, index) => item(entry, `${path}[${index}]`)));
  };
}

function fields(known: Readonly<Record<string, Check>>, required: readonly string[] = []): Check {
  return (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return `${path || 'it'} must be an object`;
    const at = (name: string): string => (path ? `${path}.${name}` : name);
    const missing = required.find((name) => !Object.hasOwn(value, name));
    if (missing !== undefined) return `${at(missing)} is missing`;
    return firstProblem(
      Object.entries(value).map(([name, entry]) =>
        Object.hasOwn(known, name) ? known[name]!(entry, at(name)) : `${at(name)} is not known here`,
      ),
    );
  };
}

function firstProblem(problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((problem) => problem !== undefined);
}

const mapping = fields({ claim: filled, prefix: text }, ['claim']);
// What is not looked at must not be there: a rule nobody checks would let in whom it was to keep out.
const configuration = fields({
  apiVersion: oneOf(
    'apiserver.config.k8s.io/v1',
    'apiserver.config.k8s.io/v1beta1',
    'apiserver.config.k8s.io/v1alpha1',
  ),
  kind: oneOf('AuthenticationConfiguration'),
  jwt: list(
    fields(
      {
        issuer: fields(
          {
            url: https,
            audiences: list(filled, 1),
            audienceMatchPolicy: oneOf('MatchAny'),
            certificateAuthority: text,
          },
          ['url', 'audiences'],
        ),
        claimMappings: fields({ username: mapping, groups: mapping }, ['username']),
        claimValidationRules: list(fields({ claim: filled, requiredValue: text }, ['claim', 'requiredValue'])),
      },
      ['issuer', 'claimMappings'],
    ),
  ),
});

/** The issuers a file names. */
export async function readAuthenticationConfiguration(file: string): Promise<readonly Issuer[]> {
  const { parse } = await import('yaml');
  let content: unknown;
  try {
    content = parse(await readFile(file, 'utf8'));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new AuthenticationConfigurationError(file, code === 'ENOENT' ? 'there is no such file' : message, {
      cause: error,
    });
  }
  const problem = configuration(content, '');
  if (problem !== undefined) throw new AuthenticationConfigurationError(file, problem);
  return (content as { jwt?: readonly Issuer[] }).jwt ?? [];
}
