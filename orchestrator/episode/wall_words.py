"""The words of walls: English, German, French, Spanish, Italian, Dutch, Portuguese and Japanese.

Each is a regular expression for texts in Unicode's form NFKC, without regard to case. Where a whole
title, heading or control is compared, it must be all of it: an article may have these words in its
title.
"""

from __future__ import annotations

from typing import Final

_DOTS: Final = r"(?:\.{3}|…)"  # of a page that waits; an article is seldom called so
_PLEASE: Final = r"(?:please |bitte |veuillez |por favor,? |per favore,? |graag )?"

# "I am no robot" and "show that you are human": on headings and on controls.
_HUMAN: Final = (
    r"i'?m not a robot",
    r"i am (?:not a robot|human)",
    r"(?:verify|confirm|prove)(?:ing)? (?:that )?you(?: are|'re) (?:not a robot|(?:a )?human)",
    r"ich bin (?:kein roboter|ein mensch)",
    r"(?:bestätigen|beweisen) sie,? dass sie (?:kein roboter|ein mensch) sind",
    r"je (?:ne suis pas un robot|suis (?:un )?humain)",
    (
        r"(?:vérifie[rz]|confirme[rz]|prouve[rz]) que vous"
        r" (?:êtes (?:bien )?(?:un (?:être )?)?humain|n'êtes pas un robot)"
    ),
    r"(?:no soy un robot|soy humano)",
    (
        r"(?:verifi(?:que|ca)|confirm[ea]|demuestr[ea]) que"
        r" (?:no (?:es|eres) un robot|(?:es|eres) (?:un )?(?:ser )?humano)"
    ),
    r"(?:non sono un robot|sono (?:un essere )?umano)",
    r"(?:verifica|conferma|dimostra) di (?:non essere un robot|essere (?:un (?:essere )?)?umano)",
    r"ik ben (?:geen robot|een mens)",
    r"(?:bevestig|controleer|verifieer|bewijs) dat (?:u|je) (?:geen robot|een mens) bent",
    r"(?:eu )?(?:não sou um rob(?:ô|ot)|sou humano)",
    (
        r"(?:verifique|confirme|comprove|prove) que (?:você )?"
        r"(?:não é um rob(?:ô|ot)|é (?:um )?(?:ser )?humano)"
    ),
    r"(?:私は)?ロボットではありません",
    r"(?:あなたが)?人間であることを(?:確認|証明)(?:します|して(?:ください|います))?",
)
BOT_HEADS: Final = (
    *(f"{_PLEASE}{one}" for one in _HUMAN),
    r"just a moment\.{0,3}",
    r"attention required!?",
    r"access (?:to this page has been )?denied",
    r"pardon our interruption",
    r"robot(?: or human)?\??",
    r"are you (?:a )?(?:human|robot)(?: or human)?\??",
    r"checking (?:your browser|if the site connection is secure).*",
    r"(?:human|bot|security) (?:verification|check)",
    r"performing security verification",
    r"sorry, you have been blocked",
    r"ddos-guard",
    r"please complete the security check.*",
    r"unusual traffic.*",
    rf"(?:nur )?einen moment(?:,? bitte)?{_DOTS}",
    r"zugriff (?:verweigert|blockiert|gesperrt)",
    r"sind sie ein (?:mensch|roboter)(?: oder ein (?:mensch|roboter))?\?",
    r"sicherheits(?:überprüfung|abfrage)",
    r"ungewöhnlicher datenverkehr.*",
    rf"un (?:instant|moment){_DOTS}",
    r"accès (?:refusé|interdit|bloqué)",
    r"êtes-vous un (?:humain|robot)(?: ou un (?:humain|robot))?\s?\?",
    r"vérification (?:de sécurité|humaine)",
    r"trafic inhabituel.*",
    rf"(?:solo )?un (?:momento|attimo){_DOTS}",
    r"acceso (?:denegado|bloqueado)",
    r"¿(?:es|eres) (?:usted )?un (?:humano|robot)\?",
    r"verificación (?:de seguridad|humana)",
    r"tráfico inusual.*",
    r"accesso (?:negato|bloccato)",
    r"sei un (?:essere umano|umano|robot)\?",
    r"(?:verifica|controllo) di sicurezza",
    r"traffico insolito.*",
    rf"(?:een moment|even) geduld(?:,? (?:alstublieft|a\.?u\.?b\.?))?{_DOTS}",
    r"toegang (?:geweigerd|geblokkeerd|ontzegd)",
    r"(?:bent u|ben je) een (?:mens|robot)\?",
    r"beveiligingscontrole",
    r"ongebruikelijk verkeer.*",
    rf"(?:só )?um momento{_DOTS}",
    r"acesso (?:negado|bloqueado|recusado)",
    r"(?:você|o senhor) é um (?:humano|robô)\?",
    r"verificação (?:de segurança|humana)",
    r"tráfego (?:incomum|invulgar).*",
    rf"(?:しばらく|少々)お待ちください{_DOTS}",
    r"アクセスが?(?:拒否|ブロック|制限)されました",
    r"(?:あなたは)?ロボットですか\?",
    r"セキュリティ(?:チェック|確認)",
    r"通常と(?:は)?異なるトラフィック.*",
)
BOT_CONTROLS: Final = (
    *(f"{one}.*" for one in _HUMAN),
    r"press (?:&|and) hold.*",
    r"begin human verification",
    r"(?:bitte )?gedrückt halten",
    r"maintenez (?:le bouton )?enfoncé",
    r"mant[eé]n(?:ga)? (?:pulsado|presionado)",
    r"tieni premuto",
    r"houd ingedrukt",
    r"(?:pressione e segure|mantenha premido)",
    r"長押し(?:してください)?",
)
RATE_HEADS: Final = (
    r"(?:error |http )?429(?:[ :,.-]+too many requests)?",
    r"too many requests",
    r"rate limit(?:ed| exceeded)",
    r"you (?:have been|are being) rate limited",
    r"slow down",
    r"(?:request |usage )?limit (?:reached|exceeded)",
    r"zu viele (?:anfragen|zugriffe)",
    r"(?:anfrage|zugriffs)limit (?:erreicht|überschritten)",
    r"trop de requêtes",
    r"limite de requêtes (?:atteinte|dépassée)",
    r"demasiadas (?:solicitudes|peticiones)",
    r"límite de (?:solicitudes|peticiones) (?:alcanzado|superado|excedido)",
    r"troppe richieste",
    r"limite di richieste (?:raggiunto|superato)",
    r"te veel (?:verzoeken|aanvragen)",
    r"(?:verzoek|aanvraag)limiet (?:bereikt|overschreden)",
    r"(?:demasiad|muit)[oa]s (?:solicitações|requisições|pedidos)",
    r"limite de (?:solicitações|requisições|pedidos) (?:atingido|excedido)",
    r"リクエストが多すぎます",
    r"リクエスト(?:数)?の?(?:上限|制限)(?:に達しました|を超えました)",
)
GEO_TEXTS: Final = (
    (
        r"(?:not|n't|un)\s?(?:currently )?available (?:in|from|to)"
        r" (?:your|this) (?:country|region|location|area)"
    ),
    r"unavailable (?:in|from) (?:your|this) (?:country|region|location|area)",
    r"unavailable (?:due to|for) legal reasons",
    (
        r"(?:not|un)\s?available (?:in|to (?:users|visitors|readers) (?:in|from)) (?:the )?"
        r"(?:most )?(?:european (?:union|economic area|countries)|eu\b|eea\b)"
    ),
    r"access from your (?:country|region|location) (?:is|has been) (?:blocked|denied|restricted)",
    (
        r"in (?:(?:ihrem|deinem) land|(?:ihrer|deiner) region) (?:(?:derzeit|leider) )*"
        r"nicht (?:verfügbar|zugänglich)"
    ),
    r"(?:pas|non|in)\s?(?:disponible|accessible)s? dans votre (?:pays|région)",
    r"no (?:está )?disponible en (?:su|tu) (?:país|región)",
    r"non (?:è |sono )?disponibil[ei] (?:nel (?:tuo|suo) paese|nella (?:tua|sua) (?:regione|area))",
    r"niet beschikbaar in (?:uw|jouw|je) (?:land|regio)",
    r"in (?:uw|jouw|je) (?:land|regio) niet beschikbaar",
    r"(?:não (?:está )?|in)disponível n(?:o (?:seu|teu) país|a (?:sua|tua) região)",
    (
        r"お住まいの(?:国|地域|国または地域)では、?(?:ご)?(?:利用|視聴|覧)"
        r"(?:いただけません|になれません|できません)"
    ),
)
# Somewhere in a title, a heading or a dialog's name.
CONSENT_ABOUT: Final = (
    (
        r"\b(?:cookies?|consent|your privacy|privacy (?:choices|settings|preferences)|datenschutz"
        r"|before you continue"
        r"|(?:ihre|deine) privatsphäre|privatsphäre-einstellungen|einwilligung|bevor sie fortfahren"
        r"|votre (?:vie privée|confidentialité)|consentement|avant de continuer"
        r"|(?:su|tu) privacidad|consentimiento|antes de continuar"
        r"|(?:la tua|la vostra|la sua) privacy|consenso|prima di continuare"
        r"|(?:uw|jouw|je) privacy|privacy-?instellingen|toestemming|voordat (?:u|je) verder ?gaat"
        r"|(?:a )?(?:sua|tua) privacidade)\b"
    ),
    r"cookie(?=[ぁ-ヿ一-龯])|クッキー|プライバシー(?:設定|の選択)|(?:続行|ご利用)(?:する|の)前に",
)
CONSENT_BUTTONS: Final = (
    (
        r"(?:accept|agree|allow|consent)"
        r"(?: (?:to )?(?:all|cookies|and (?:continue|close|proceed)))*"
    ),
    r"i (?:accept|agree|consent)(?: to .{1,30})?",
    r"yes,? i (?:accept|agree)",
    r"(?:alle[ns]?|alles)(?: cookies)? (?:akzeptieren|annehmen|zulassen)|akzeptieren|zustimmen.*",
    r"(?:akzeptieren|einverstanden) und (?:weiter|schließen)|ich stimme zu|einverstanden",
    r"tout (?:accepter|autoriser)|accepter.*|j'accepte|autoriser tous les cookies",
    (
        r"aceptar(?: todo| todas(?: las cookies)?| y (?:continuar|cerrar))?|acepto"
        r"|permitir tod(?:o|as(?: las cookies)?)"
    ),
    (
        r"accett[ao](?: tutt[oi])?(?: i cookie)?|accetta e (?:continua|chiudi)|acconsento"
        r"|consenti tutt[oi](?: i cookie)?"
    ),
    (
        r"(?:alles|alle cookies) (?:accepteren|toestaan)|accepte(?:er|ren)(?: alles| alle cookies)?"
        r"|accepteren en (?:sluiten|doorgaan)|(?:ik ga )?akkoord"
    ),
    (
        r"aceitar(?: tudo| todos?(?: os cookies)?| e (?:continuar|fechar))?|aceito|concordo"
        r"|permitir todos?(?: os cookies)?"
    ),
    (
        r"(?:すべて(?:の(?:cookie|クッキー))?を?)?(?:同意(?:する|します|して続行)?|許可(?:する)?"
        r"|受け入れる|承諾(?:する)?)"
    ),
)
LOGIN_HEADS: Final = (
    r"(?:please )?(?:sign|log) ?in(?: (?:to|with|or|and|/) .{1,40})?(?: to continue)?",
    r"login(?: required)?",
    r"you must (?:be logged in|log in|sign in).*",
    r"(?:bitte )?(?:anmelden|einloggen)|anmeldung(?: erforderlich)?|bitte melden sie sich an",
    r"connexion|se connecter|connectez-vous(?: pour continuer)?|identifiez-vous",
    r"inicia(?:r)? sesión(?: para continuar)?|identifícate",
    r"accedi(?: per continuare)?|effettua (?:il login|l'accesso)",
    r"inloggen|log in om (?:door|verder) te gaan|aanmelden",
    r"entrar|iniciar sessão|(?:faça|fazer) login(?: para continuar)?|acesse sua conta",
    r"ログイン(?:してください)?|サインイン(?:してください)?",
)
LOGIN_PATHS: Final = (
    r"log-?in|sign-?in|auth|sso|session/new|account/login|users/sign_in",
    r"anmelden|anmeldung|connexion|iniciar-?sesion|accedi|inloggen|aanmelden|entrar",
)
PASSWORDS: Final = (
    (
        r"(?:your |enter |ihr |dein |votre |su |tu |la tua |uw |je |(?:a )?sua )*"
        r"(?:password|passwort|kennwort|mot de passe|contraseña|wachtwoord|senha|palavra-passe)\b.*"
    ),
    r"パスワード.*",
)
