import { describe, expect, it } from 'vitest';
import { negotiate, type NegotiationOptions } from './negotiate.ts';

function choose(accept: string, more: Partial<NegotiationOptions> = {}) {
  const { format, as } = negotiate({
    accept,
    query: new URLSearchParams(),
    userAgent: '',
    custom: false,
    transformable: true,
    ...more,
  });
  return as ? `${format} ${as}` : format;
}

describe('content negotiation', () => {
  it.each([
    ['', 'json'],
    ['*/*', 'json'],
    ['application/yaml', 'yaml'],
    ['application/vnd.kubernetes.protobuf,application/json', 'json'],
    ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json', 'json Table'],
    ['application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', 'json PartialObjectMetadata'],
    ['application/json;as=Nope;g=meta.k8s.io;v=v1,application/json', 'json'],
    ['text/html,application/xml;q=0.9,*/*;q=0.8', 'json'],
    ['application/json;q=0.5,application/yaml', 'yaml'],
  ])('%s → %s', (accept, expected) => {
    expect(choose(accept)).toBe(expected);
  });

  it('refuses unknown media types in the words of the router', () => {
    expect(() => choose('text/html')).toThrow(
      '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    );
  });

  it('refuses impossible parameters, and protobuf of custom resources, in the words of the handler', () => {
    const words =
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf';
    expect(() => choose('application/json;as=Nope;g=meta.k8s.io;v=v1')).toThrow(words);
    expect(() => choose('application/vnd.kubernetes.protobuf', { custom: true })).toThrow(words);
  });

  it('indents for people', () => {
    const options = { accept: '', custom: false, transformable: true };
    const pretty = (query: string, userAgent: string) =>
      negotiate({ ...options, query: new URLSearchParams(query), userAgent }).pretty;
    expect(pretty('pretty=true', '')).toBe(true);
    expect(pretty('', 'curl/8.0')).toBe(true);
    expect(pretty('pretty=false', 'curl/8.0')).toBe(false);
    expect(pretty('', 'kubectl/v1.36')).toBe(false);
  });
});
