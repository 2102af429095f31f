/**
 * From the bytes of a response to payloads: server-sent events with what servers do beside the standard, and lines.
 *
 * @module
 */

import { TextLineStream } from "@std/streams/text-line-stream";
import { createParser } from "eventsource-parser";

/** Characters of one event that are held; far above any real one. */
export const MAX_EVENT_CHARS = 16 * 1024 * 1024;

/** Characters kept of a text that is no event stream, to be read as one document. */
export const MAX_DOCUMENT_CHARS = 16 * 1024 * 1024;

/** Takes one payload: the data of an event and its type, or a line. */
export type OnPayload = (data: string, event?: string) => void;

/** Splits a text into payloads. */
export interface Splitter {
  /** Takes the next piece. Throws RangeError when an event is longer than {@linkcode MAX_EVENT_CHARS}. */
  feed(piece: string): void;
  /** Takes the end: an event without a blank line behind it counts. */
  end(): void;
  /** The whole text so far, as long as there was no payload in it. */
  document(): string;
}

/** A response's text, piece by piece. */
export interface Pieces {
  /** The next piece. */
  read(): Promise<{ done: boolean; value?: string | undefined }>;
  /** Ends the reading, and with it the connection. */
  cancel(): Promise<void>;
}

/** A response's text in the pieces that its framing wants: as they come, or lines. */
export function piecesOf(body: ReadableStream<Uint8Array>, framing: "sse" | "lines"): Pieces {
  const text = body.pipeThrough(decoder());
  return (framing === "lines" ? text.pipeThrough(new TextLineStream()) : text).getReader();
}

/** UTF-8 to text; a character may be cut anywhere. */
function decoder(): TransformStream<Uint8Array, string> {
  const utf8 = new TextDecoder();
  return new TransformStream({
    transform: (bytes, controller) => controller.enqueue(utf8.decode(bytes, { stream: true })),
    flush: (controller) => controller.enqueue(utf8.decode()),
  });
}

/** Lines as payloads. What comes before the first that looks like JSON is kept as the document. */
export function lineSplitter(onPayload: OnPayload): Splitter {
  let raw: string[] | undefined = [];
  let rawChars = 0;
  return {
    feed(line) {
      if (line.trim() === "") return;
      if (raw !== undefined && isJson(line)) raw = undefined;
      if (raw === undefined) return onPayload(line);
      if (rawChars < MAX_DOCUMENT_CHARS) raw.push(line);
      rawChars += line.length;
    },
    end: () => undefined,
    document: () => raw?.join("\n") ?? "",
  };
}

function isJson(line: string): boolean {
  try {
    return JSON.parse(line) !== undefined;
  } catch {
    return false; // a page, or the first line of a document over several
  }
}

/** Server-sent events as payloads: `onPayload` is called for each, in order, while it is fed. */
export function sseSplitter(onPayload: OnPayload): Splitter {
  let events = 0;
  let raw: string[] = [];
  let rawChars = 0;
  let overflow = false;
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARS,
    onEvent: (message) => onEvent(message.data, message.event),
    onError(error) {
      overflow ||= error.type === "max-buffer-size-exceeded";
      if (error.type === "unknown-field" && error.field === "error") onEvent(error.value ?? "", "error");
    },
  });
  const lines = wholeErrorLines();

  function onEvent(data: string, event?: string): void {
    if (events++ === 0) raw = [];
    onPayload(data, event);
  }

  function parse(text: string): void {
    parser.feed(text);
    if (overflow) throw new RangeError(`an event of more than ${MAX_EVENT_CHARS} characters`);
  }

  return {
    feed(piece) {
      if (events === 0 && rawChars < MAX_DOCUMENT_CHARS) {
        raw.push(piece);
        rawChars += piece.length;
      }
      parse(lines.next(piece));
    },
    end() {
      parse(`${lines.rest()}\n\n`);
    },
    document: () => raw.join(""),
  };
}

const ERROR_FIELD = "error:";

/** Characters of an error line that are held until its end is there. */
const MAX_ERROR_CHARS = 100_000;

/**
 * Old llama.cpp ends a stream with a line `error: {…}`, which the standard says to ignore. The parser reports such a
 * field when it comes in one piece, and drops it without a word when it is cut: so its start is held back until its end
 * is there.
 */
function wholeErrorLines(): { next(piece: string): string; rest(): string } {
  let held = "";
  let lineStart = true;
  return {
    next(piece) {
      const text = held + piece;
      const from = lastLine(text);
      const begin = text.slice(from, from + ERROR_FIELD.length);
      const starts = (from > 0 || lineStart) && text.length - from < MAX_ERROR_CHARS;
      held = starts && ERROR_FIELD.startsWith(begin) ? text.slice(from) : "";
      if (text !== "") lineStart = held !== "" || from === text.length;
      return text.slice(0, text.length - held.length);
    },
    rest: () => held,
  };
}

/** Where the last line of a text begins; its length when it ends with a line's end. */
function lastLine(text: string): number {
  let from = text.length;
  while (from > 0 && text[from - 1] !== "\n" && text[from - 1] !== "\r") from--;
  return from;
}
