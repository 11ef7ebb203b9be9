import { readFile } from 'node:fs/promises';

import { schemaErrors } from '../crd/validate-object.ts';
import type { JsonObject } from '../object.ts';
import { pruneUnknown } from '../schema/prune.ts';
import type { Schema } from '../schema/schema.ts';
import { loadYaml, parseYaml } from '../schema/yaml-text.ts';

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

const text: Schema = { type: 'string' };
const filled: Schema = { type: 'string', minLength: 1 };
const mapping: Schema = { type: 'object', required: ['claim'], properties: { claim: filled, prefix: text } };

/** What is understood of an AuthenticationConfiguration. */
const configuration: Schema = {
  type: 'object',
  properties: {
    apiVersion: {
      type: 'string',
      enum: ['v1', 'v1beta1', 'v1alpha1'].map((each) => `apiserver.config.k8s.io/${each}`),
    },
    kind: { type: 'string', enum: ['AuthenticationConfiguration'] },
    jwt: {
      type: 'array',
      items: {
        type: 'object',
        required: ['issuer', 'claimMappings'],
        properties: {
          issuer: {
            type: 'object',
            required: ['url', 'audiences'],
            properties: {
              url: filled,
              audiences: { type: 'array', minItems: 1, items: filled },
              audienceMatchPolicy: { type: 'string', enum: ['MatchAny'] },
              certificateAuthority: text,
            },
          },
          claimMappings: {
            type: 'object',
            required: ['username'],
            properties: { username: mapping, groups: mapping },
          },
          claimValidationRules: {
            type: 'array',
            items: {
              type: 'object',
              required: ['claim', 'requiredValue'],
              properties: { claim: filled, requiredValue: text },
            },
          },
        },
      },
    },
  },
};

/** The issuers a file names. */
export async function readAuthenticationConfiguration(file: string): Promise<readonly Issuer[]> {
  const content = await readYaml(file);
  const [error] = schemaErrors(content, configuration);
  if (error) throw new AuthenticationConfigurationError(file, `${error.field}: ${error.detail}`);
  // What is not looked at must not be there: a rule nobody checks would let in whom it was to keep out.
  const [unknown] = pruneUnknown(content as JsonObject, configuration).unknownFields;
  if (unknown !== undefined) throw new AuthenticationConfigurationError(file, `${unknown} is not known here`);
  const { jwt = [] } = content as { jwt?: readonly Issuer[] };
  const wrong = jwt.findIndex(({ issuer }) => !URL.canParse(issuer.url) || new URL(issuer.url).protocol !== 'https:');
  if (wrong !== -1)
    throw new AuthenticationConfigurationError(file, `jwt[${wrong}].issuer.url: must be an https address`);
  return jwt;
}

async function readYaml(file: string): Promise<unknown> {
  try {
    await loadYaml();
    const { value, strictErrors } = parseYaml(await readFile(file, 'utf8'));
    if (strictErrors.length > 0) throw new AuthenticationConfigurationError(file, strictErrors.join('; '));
    return value;
  } catch (error) {
    if (error instanceof AuthenticationConfigurationError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new AuthenticationConfigurationError(file, code === 'ENOENT' ? 'there is no such file' : message, {
      cause: error,
    });
  }
}
