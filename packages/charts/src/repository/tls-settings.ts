import type { TlsSettings } from '@slipway/kube';

/** Settings of what files and flags say; `undefined` when they say nothing. */
export function tlsSettings(given: {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly insecureSkipVerify: boolean;
}): TlsSettings | undefined {
  const { ca, cert, key, insecureSkipVerify } = given;
  if (ca === undefined && cert === undefined && !insecureSkipVerify) return undefined;
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined || key === undefined ? {} : { clientCertificate: { cert, key } }),
    ...(insecureSkipVerify ? { insecureSkipVerify } : {}),
  };
}
