/** What went wrong, as the page shows it. */

import {
  AwayError,
  ChangedElsewhereError,
  KnownElsewhereError,
  MidpointError,
  MovedError,
  RefusedError,
  ServiceError,
  StorageError,
  UnusableError,
} from "../../index";
import type { Model, Notice } from "../model/model";
import { NotOpenedError } from "./storage";

/** The code of a service that this browser knows at another address. */
export const ELSEWHERE = "known_elsewhere";

export type Failure =
  | { readonly kind: "away" }
  | { readonly kind: "refused"; readonly refusal: NonNullable<Model["refusal"]> }
  | { readonly kind: "note"; readonly notice: Notice };

/** Sort an error: wait and try again, refuse the service, or warn. */
export function failureOf(error: unknown, isOpen: boolean): Failure {
  if (error instanceof AwayError) return { kind: "away" };
  if (error instanceof ChangedElsewhereError) return { kind: "note", notice: "otherTab" };
  if (error instanceof MovedError) return { kind: "note", notice: "moved" };
  if (error instanceof NotOpenedError) return { kind: "note", notice: "noOpening" };
  if (isStorage(error)) return { kind: "note", notice: "storage" };
  if (!isOpen) return { kind: "note", notice: isBroken(error) ? "badStorage" : "storage" };
  if (error instanceof RefusedError || error instanceof ServiceError) {
    const { code, sentence } = error;
    return { kind: "refused", refusal: { code, sentence, ours: error instanceof RefusedError } };
  }
  const code = error instanceof KnownElsewhereError ? ELSEWHERE : "unusable";
  if (error instanceof UnusableError || error instanceof KnownElsewhereError) {
    return { kind: "refused", refusal: { code, sentence: error.message, ours: true } };
  }
  return { kind: "note", notice: "failed" };
}

/** Whether the browser's storage failed; that passes, and says nothing about what it holds. */
function isStorage(error: unknown): boolean {
  return error instanceof StorageError || error instanceof DOMException;
}

/** Whether what was read does not parse, or its seal is broken; nothing else may be erased. */
function isBroken(error: unknown): boolean {
  return error instanceof MidpointError;
}
