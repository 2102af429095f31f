/**
 * The words that models use in reviews, in the languages they answer in: severities, headings, labels of fields, "none".
 *
 * @module
 */

/** What a severity word or mark stands for. */
export type SeverityWord = "bug" | "risk" | "nit";

const words = (text: string): string[] => text.split(/\s*,\s*/).map((word) => word.trim()).filter(Boolean);

/** Severity words, lower case, by meaning. `major` stands below `critical` and beside 🟠, as in common review bots. */
const SEVERITIES: { readonly [S in SeverityWord]: string } = {
  bug: `bug, bugs, error, critical, blocker, blocking, severe, fatal, high, very high, highest, p0, p1, must fix,
    fehler, kritisch, hoch, schwerwiegend, bogue, critique, bloquant, élevé, élevée, haute, grave, crítico, crítica, alto,
    alta, bloqueante, critico, critica, 严重, 致命, 高, 错误, 缺陷, 重大, バグ, 致命的, критично, критический, критическая, критическое,
    ошибка, баг, высокий, высокая, 심각, 치명적, 높음, 버그`,
  risk:
    `risk, risks, warning, warnings, major, medium, moderate, important, p2, should fix, potential, risiko, warnung, mittel,
    wichtig, risque, avertissement, majeur, majeure, moyen, moyenne, importante, riesgo, advertencia, medio, media, mayor,
    risco, aviso, médio, média, medio, rischio, 风险, 警告, 中, 中等, 一般, リスク, 注意, 中程度, риск, предупреждение, средний, средняя,
    위험, 경고, 중간, 보통`,
  nit:
    `nit, nits, nitpick, nitpicks, minor, low, lowest, trivial, info, note, style, typo, optional, p3, p4, hinweis, gering, niedrig,
    klein, kleinigkeit, mineur, mineure, faible, remarque, détail, menor, leve, bajo, baja, nota, baixo, baixa, basso, bassa,
    轻微, 低, 提示, 次要, 細かい点, 軽微, низкий, низкая, мелочь, замечание, 낮음, 경미, 사소`,
};

/** Words in front of these need a place to make a remark: prose uses them too. */
const WEAK_SEVERITIES = new Set(
  words("note, info, nota, hinweis, remarque, 注意, 提示, important, potential, wichtig, importante"),
);

/** From a severity word to its meaning. */
export const severityWords: ReadonlyMap<string, SeverityWord> = new Map(
  (Object.entries(SEVERITIES) as [SeverityWord, string][]).flatMap(([severity, list]) =>
    words(list).map((word) => [word, severity] as const)
  ),
);

/** Whether prose uses this severity word too. */
export function isWeakSeverity(word: string): boolean {
  return WEAK_SEVERITIES.has(word);
}

const MARKS: { readonly [S in SeverityWord | "good"]: string } = {
  bug: "🔴 🟥 ⛔ 🚫 ❌ 🛑 🚨 🐛 🐞 🔥 💥 ❗ ‼",
  risk: "🟠 🟧 ⚠ 🔶 ❓",
  nit: "🟡 🟨 🔵 🟦 🔷 ℹ 📝 🧹 💡 💭 🎨",
  good: "✅ ✔ 🟢 🟩 👍 🎉 🚀 💚 ⭐ 🌟 ✨ 👏",
};

/** From a severity emoji (without its variation selector) to its meaning. */
export const severityMarks: ReadonlyMap<string, SeverityWord | "good"> = new Map(
  (Object.entries(MARKS) as [SeverityWord | "good", string][]).flatMap(([severity, list]) =>
    list.split(" ").map((mark) => [mark, severity] as const)
  ),
);

/** What a section of a review holds. In a cleared one a sentence said that there is nothing; marked remarks still count. */
export type SectionKind = "issues" | "ignored" | "cleared";

const ISSUE_HEADINGS =
  `issue, issues, problem, problems, finding, findings, bug, bugs, concern, concerns, risk, risks, weakness,
  weaknesses, error, errors, defect, defects, vulnerability, vulnerabilities, warnings, nitpicks, nits, across the parts,
  probleme, fehler, befunde, schwächen, risiken, mängel, problème, problèmes, défauts, constats, risques, problema, problemas,
  errores, hallazgos, riesgos, erros, achados, riscos, problemi, difetti, проблемы, ошибки, замечания, риски, недостатки`;

const IGNORED_HEADINGS =
  `summary, overview, walkthrough, changes, change, suggestion, suggestions, recommendation, recommendations,
  improvement, improvements, verdict, conclusion, strengths, strength, positives, positive, praise, good, well, legend, files,
  file list, testing, tests, next steps, rating, score, approval, decision, merge readiness, fixed, resolved, addressed, checklist,
  statistics, coverage, pros, highlights, recommended, suggested, key, zusammenfassung, überblick, übersicht, vorschläge, empfehlungen,
  verbesserungen, fazit, urteil, stärken, positives, änderungen, legende, résumé, aperçu, recommandations, améliorations,
  conclusion, points forts, modifications, légende, resumen, sugerencias, recomendaciones, mejoras, veredicto, conclusión,
  fortalezas, cambios, leyenda, resumo, sugestões, recomendações, melhorias, veredito, conclusão, mudanças, alterações, riepilogo,
  suggerimenti, verdetto, conclusione, резюме, обзор, предложения, рекомендации, вердикт, вывод, итог, заключение, изменения,
  достоинства`;

const ISSUE_HEADINGS_CJK = words("问题, 缺陷, 風險, 风险, 問題, 問題点, 指摘, 문제, 문제점, 이슈, 버그");
const IGNORED_HEADINGS_CJK = words(
  "总结, 摘要, 概述, 概要, 建议, 改进, 结论, 优点, 变更, まとめ, サマリー, 提案, 改善, 判定, 結論, 良い点, 変更点, 요약, 제안, 개선, 결론, 판정, 장점, 변경",
);

const issueWords = new Set(words(ISSUE_HEADINGS));
const ignoredWords = new Set(words(IGNORED_HEADINGS));
/** Words that a heading may have beside those that count. */
const FILLERS = new Set(words(
  `and, of, the, for, to, code, review, found, potential, possible, other, general, main, key, my, overall, all, any, level,
   severity, priority, items, list, new, und, der, die, et, des, de, y, e, и, gefundene, mögliche, potentielle, identified, detected`,
));

/** What a heading says of the lines below it. */
export interface HeadingWords {
  /** What the lines below it are. */
  kind?: SectionKind;
  /** The severity of the lines below it. */
  severity?: SeverityWord;
  /** Whether it says nothing else: each of its words is one of these. */
  only: boolean;
}

/** Reads a heading, or a label in front of a colon. */
export function readHeading(text: string): HeadingWords {
  const plain = text.toLowerCase().replace(/[^\p{L}\p{N}\s]/gu, " ").trim().replace(/\s+/g, " ");
  if (plain === "") return { only: false };
  const cjk = readCjkHeading(plain);
  if (cjk) return cjk;
  const parts = plain.split(" ");
  const phrases = [...parts, ...parts.map((part, i) => `${part} ${parts[i + 1] ?? ""}`), plain];
  const ignored = phrases.some((phrase) => ignoredWords.has(phrase));
  const issues = phrases.some((phrase) => issueWords.has(phrase));
  const settled = parts.some((part) =>
    part === "fixed" || part === "resolved" || part === "addressed" || part === "no"
  );
  const severity = parts.map((part) => severityWords.get(part)).find((word) => word !== undefined);
  const known = (part: string) =>
    issueWords.has(part) || ignoredWords.has(part) || severityWords.has(part) || FILLERS.has(part) ||
    /^\d+$/.test(part);
  const only = ignoredWords.has(plain) || issueWords.has(plain) || parts.every(known);
  const kind = issues && !settled ? "issues" : ignored || settled ? "ignored" : severity && only ? "issues" : undefined;
  return { only, ...(kind && { kind }), ...(kind === "issues" && severity && { severity }) };
}

function readCjkHeading(plain: string): HeadingWords | undefined {
  if (plain.length > 12 || !/[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]/.test(plain)) return undefined;
  if (ISSUE_HEADINGS_CJK.some((word) => plain.includes(word))) return { kind: "issues", only: true };
  if (IGNORED_HEADINGS_CJK.some((word) => plain.includes(word))) return { kind: "ignored", only: true };
  const severity = severityWords.get(plain);
  return severity ? { kind: "issues", severity, only: true } : undefined;
}

/** What a labelled line of a remark holds. */
export type Field = "place" | "line" | "severity" | "code" | "text" | "fix";

const FIELDS: { readonly [F in Field]: string } = {
  place:
    `file, files, path, location, where, filename, file path, datei, pfad, ort, stelle, fichier, emplacement, archivo, fichero,
    ubicación, arquivo, local, 文件, 位置, ファイル, 場所, файл, место, 파일, 위치`,
  line:
    "line, lines, line number, line numbers, zeile, zeilen, ligne, lignes, línea, líneas, linha, linhas, 行, 行号, 行番号, строка, строки, 줄",
  severity:
    `severity, priority, level, schweregrad, gravité, sévérité, severidad, gravedad, severidade, gravidade, 严重程度, 严重性, 级别,
    重大度, 深刻度, серьёзность, важность, 심각도`,
  code:
    `code, quote, quoted line, quoted code, snippet, code snippet, current code, existing code, original code, changed line, affected code,
    offending line, offending code, problematic code, relevant code, zitat, code actuel, código, 代码, コード, код, 코드`,
  text:
    `issue, problem, description, explanation, detail, details, title, what, impact, why, why it matters, failure, scenario, reason,
    concrete failure, consequence, effect, message, comment, bug, beschreibung, erklärung, auswirkung, problème, explication, descripción,
    problema, impacto, descrição, 描述, 说明, 内容, 詳細, 指摘, 影响, 问题, 説明, 影響, 問題, описание, проблема, 설명, 영향, 문제`,
  fix:
    `fix, suggestion, suggested fix, suggested change, recommendation, recommended fix, solution, proposed fix, how to fix, remediation, better,
    improved code, corrected code, example fix, vorschlag, lösung, empfehlung, correction, recommandation, solución, sugerencia,
    solução, sugestão, correção, 建议, 修复, 修复建议, 提案, 修正, 修正案, решение, исправление, предложение, 제안, 해결, 수정`,
};

const fields: ReadonlyMap<string, Field> = new Map(
  (Object.entries(FIELDS) as [Field, string][]).flatMap(([field, list]) =>
    words(list).map((word) => [word, field] as const)
  ),
);

/** Which field a label names. */
export function fieldOf(label: string): Field | undefined {
  return fields.get(label.trim().toLowerCase());
}

// "No error handling" is a remark, "No errors found" is none: the noun must end the sentence or be followed by "found".
const NOTHING = new RegExp(
  [
    "^(?:none|n/?a|nothing|nil|no|0|-|–|—|not applicable)$",
    "^(?:none|nothing)\\b.{0,40}$",
    "^(?:there (?:are|were|is) )?(?:no|not any|zero)\\b.{0,40}?\\b(?:issues?|problems?|bugs?|risks?|concerns?|findings?|nits?|nitpicks?|" +
    "errors?|vulnerabilities|flaws?|blockers?)(?: (?:were |was |are |have been )?(?:found|identified|detected|spotted|seen|noticed|noted|" +
    "present|remain|here|in|at|with|to)\\b.{0,80})?$",
    "^(?:es gibt )?keine?\\b.{0,60}$",
    "^(?:il n'y a )?aucune?\\b.{0,60}$|^rien\\b.{0,40}$|^néant$",
    "^(?:no (?:se|hay)\\b.{0,60}|ning[uú]n[oa]?\\b.{0,60}|nada\\b.{0,40})$",
    "^(?:nenhum[a]?\\b.{0,60}|não (?:há|foram)\\b.{0,60}|nessun[oa]?\\b.{0,60})$",
    "^(?:无|無|没有.{0,30}|未发现.{0,30}|暂无.{0,20}|なし|特になし|.{0,20}ありません|.{0,20}見つかりませんでした)$",
    "^(?:нет|отсутству.{0,20}|не (?:найдено|обнаружено).{0,40}|проблем (?:нет|не).{0,30}|없음|.{0,15}없습니다)$",
  ].join("|"),
  "iu",
);

/** Whether a line says that there is nothing to say. */
export function saysNothing(text: string): boolean {
  const plain = text.replace(/[*_`"“”]/g, "").trim().replace(/[.!。！]+$/, "").trim();
  return plain.length <= 160 && NOTHING.test(plain);
}

/** Whether a sentence in front of a list says that there is no issue. */
export function clears(text: string): boolean {
  return saysNothing(text) ||
    (/\b(?:no|not? find any|without)\b.{0,40}\b(?:issues?|problems?|bugs?|concerns?)\b/i.test(text) &&
      !/\b(?:but|however|except|apart|only|although|though|yet)\b/i.test(text));
}

const PRAISE =
  /^(?:good|great|nice|nicely|well|excellent|clean|solid|correct|correctly|proper|properly|lgtm|looks good|look good|gut|bien|bueno|很好|良い|хорошо|the code is|no issues)(?![\p{L}\p{N}])/iu;

/** Whether a remark that bears no severity praises. */
export function isPraise(text: string): boolean {
  return PRAISE.test(text.trim());
}
