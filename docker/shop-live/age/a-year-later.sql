-- What a year did to the shop. Product ids stay, so the same product can be asked for in both worlds.

-- One price in twelve: 4 % went up by about an eighth, 4 % went down by about a seventh.
UPDATE partner_stockrecord SET price = FLOOR(price * 1.12) + 0.95 WHERE product_id % 25 = 3;
UPDATE partner_stockrecord SET price = FLOOR(price * 0.86) + 0.25 WHERE product_id % 25 = 16;

-- The best seller, a backgammon set, is no longer sold: its page answers 404.
SET @gone = (SELECT id FROM catalogue_product WHERE title = 'Dama Works Oracle Tournament Backgammon Set 38 cm, Navy');
UPDATE catalogue_product SET is_public = 0 WHERE id = @gone OR parent_id = @gone;
